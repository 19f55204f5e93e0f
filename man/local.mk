dist_man_MANS += \
	man/ucudnn-network.5 \
	man/ucudnn-plan.1 \
	man/ucudnn-profile.5
# With the library only.
if HAVE_CUDNN
dist_man_MANS += man/libucudnn.3
endif
