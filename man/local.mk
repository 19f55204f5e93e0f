dist_man_MANS += \
	man/ucudnn-plan.1
