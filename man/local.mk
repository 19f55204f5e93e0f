dist_man_MANS += man/ucudnn-network.5
