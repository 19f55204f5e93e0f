# The kernel runner; only with CUDA and cuDNN headers.
if HAVE_CUDNN
runtime_library = libuc-runtime.a
noinst_LIBRARIES += $(runtime_library)
libuc_runtime_a_SOURCES = \
	runtime/library.c \
	runtime/library.h \
	runtime/runner.c \
	runtime/runner.h
libuc_runtime_a_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
endif
