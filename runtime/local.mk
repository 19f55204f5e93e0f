# The kernel runner and libucudnn; only with CUDA and cuDNN headers.
if HAVE_CUDNN
runtime_library = libuc-runtime.a
noinst_LIBRARIES += $(runtime_library)
runner_sources = \
	runtime/describe.c runtime/describe.h \
	runtime/geometry.c runtime/geometry.h \
	runtime/graph.c runtime/graph.h \
	runtime/library.c runtime/library.h \
	runtime/runner.c runtime/runner.h runtime/runner_impl.h \
	runtime/runner_legacy.c
libuc_runtime_a_SOURCES = $(runner_sources) \
	runtime/engines.c runtime/engines.h \
	runtime/execute.c runtime/execute.h \
	runtime/ready.c runtime/ready.h
libuc_runtime_a_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)

# What a program preloads or links; everything it needs is inside.
lib_LTLIBRARIES += libucudnn.la
libucudnn_la_SOURCES = \
	$(libuc_common_a_SOURCES) \
	$(plan_reader_sources) \
	$(runner_sources) \
	runtime/api.c runtime/api_impl.h \
	runtime/api_call.c \
	runtime/arena.c runtime/arena.h \
	runtime/capture.c runtime/capture.h \
	runtime/caller.c runtime/caller.h \
	runtime/execute.c runtime/execute.h \
	runtime/interpose.c \
	runtime/interpose_graph.c \
	runtime/interpose_query.c \
	runtime/match.c runtime/match.h \
	runtime/ready.c runtime/ready.h \
	runtime/record.c runtime/record.h \
	runtime/record_rounds.c runtime/record_rounds.h \
	runtime/record_text.c runtime/record_text.h \
	runtime/session.c runtime/session.h \
	runtime/settings.c runtime/settings.h \
	runtime/sight.c runtime/sight.h \
	runtime/sight_look.c \
	runtime/stats.c runtime/stats.h \
	runtime/table.c runtime/table.h \
	runtime/ucudnn.h
libucudnn_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
libucudnn_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libucudnn_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(srcdir)/runtime/libucudnn.map \
	-Wl,-z,defs -pthread
libucudnn_la_LIBADD = $(RUNTIME_SQLITE_LIBS) -ldl

include_HEADERS = runtime/ucudnn.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = runtime/ucudnn.pc
EXTRA_libucudnn_la_DEPENDENCIES = runtime/libucudnn.map

# The loader finds the library by its name (LD_PRELOAD=libucudnn.so) once its
# cache knows the folder; who may not write that uses LD_LIBRARY_PATH.
install-exec-hook:
	test -n '$(DESTDIR)' || \
	    PATH="$$PATH:/usr/sbin:/sbin" ldconfig 2>/dev/null || :
endif
EXTRA_DIST += runtime/libucudnn.map
