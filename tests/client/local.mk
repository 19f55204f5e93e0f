# Programs that use cuDNN as programs do, and libucudnn preloaded into them.
runtime_tests = \
	tests/runtime_asked.sh \
	tests/runtime_capture.sh \
	tests/runtime_faults.sh \
	tests/runtime_fused.sh \
	tests/runtime_inert.sh \
	tests/runtime_matrix.sh \
	tests/runtime_odd.sh \
	tests/runtime_passes_through.sh \
	tests/runtime_tsan.sh
EXTRA_DIST += tests/runtime.sh
cli_tests += $(runtime_tests)
if HAVE_CUDNN
test_tools += tests/plan_make
tests_plan_make_SOURCES = tests/plan_make.c \
	tests/client/cases.c tests/client/cases.h
tests_plan_make_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)

client_programs = \
	tests/client/asks \
	tests/client/by_dlsym \
	tests/client/fused \
	tests/client/host \
	tests/client/library.so \
	tests/client/linked \
	tests/client/odd \
	tests/client/startup
check_PROGRAMS += $(client_programs)
client_sources = \
	tests/client/api.h \
	tests/client/cases.c tests/client/cases.h \
	tests/client/convolve.c tests/client/convolve.h \
	tests/client/run.c tests/client/run.h \
	tests/double/number.c

# What the library costs a call: `make bench`.
bench_programs += tests/bench_runtime
bench_tools += tests/client/startup tests/plan_make $(double_cudnn)
tests_bench_runtime_SOURCES = tests/bench_runtime.c \
	tests/client/cases.c tests/client/cases.h \
	tests/client/convolve.c tests/client/convolve.h \
	tests/double/number.c
tests_bench_runtime_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_bench_runtime_LDFLAGS = $(client_ldflags)
tests_bench_runtime_LDADD = $(double_cudnn) $(double_cuda) -lm

client_ldflags = $(AM_LDFLAGS) -pthread \
	-Wl,-rpath,$(abs_top_builddir)/tests/double

tests_client_asks_SOURCES = tests/client/asks.c $(client_sources)
tests_client_asks_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_client_asks_LDFLAGS = $(client_ldflags)
tests_client_asks_LDADD = $(double_cudnn) $(double_cuda) -lm

tests_client_fused_SOURCES = tests/client/fused.c $(client_sources)
tests_client_fused_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_client_fused_LDFLAGS = $(client_ldflags)
tests_client_fused_LDADD = $(double_cudnn) $(double_cuda) -lm

tests_client_linked_SOURCES = tests/client/linked.c $(client_sources)
tests_client_linked_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_client_linked_LDFLAGS = $(client_ldflags)
tests_client_linked_LDADD = $(double_cudnn) $(double_cuda) -lm

tests_client_odd_SOURCES = tests/client/odd.c \
	tests/client/count.c tests/client/count.h \
	tests/double/double.h \
	$(client_sources)
tests_client_odd_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_client_odd_LDFLAGS = $(client_ldflags) -Wl,--export-dynamic
tests_client_odd_LDADD = $(double_cudnn) $(double_cuda) -ldl -lm

tests_client_by_dlsym_SOURCES = tests/client/by_dlsym.c $(client_sources)
tests_client_by_dlsym_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS) -DCLIENT_DLSYM
tests_client_by_dlsym_LDFLAGS = $(client_ldflags)
tests_client_by_dlsym_LDADD = $(double_cuda) -lm

# cuDNN inside the program, as a static library would be.
check_PROGRAMS += tests/client/hidden
tests_client_hidden_SOURCES = tests/client/steps.c \
	$(tests_double_libcudnn_so_9_SOURCES)
tests_client_hidden_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_client_hidden_LDFLAGS = $(client_ldflags)
tests_client_hidden_LDADD = $(double_cuda) -lm

tests_client_startup_SOURCES = tests/client/startup.c
tests_client_startup_LDADD =
tests_client_host_SOURCES = tests/client/host.c
tests_client_host_LDADD =
tests_client_library_so_SOURCES = $(client_sources)
tests_client_library_so_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_client_library_so_CFLAGS = $(AM_CFLAGS) -fPIC
tests_client_library_so_LDFLAGS = $(client_ldflags) -Wc,-shared
tests_client_library_so_LDADD = $(double_cudnn) $(double_cuda) -lm
endif
