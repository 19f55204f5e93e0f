dist_man_MANS += \
	man/ucudnn-network.5 \
	man/ucudnn-plan.1 \
	man/ucudnn-profile.5
