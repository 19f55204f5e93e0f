# The kernel runner; only with CUDA and cuDNN headers.
if HAVE_CUDNN
noinst_LIBRARIES += libuc-runtime.a
libuc_runtime_a_SOURCES = \
	runtime/library.c \
	runtime/library.h \
	runtime/runner.c \
	runtime/runner.h
libuc_runtime_a_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
endif
