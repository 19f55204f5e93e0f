# The double of the CUDA driver and of cuDNN: two shared objects, made like
# programs since there is no libtool here. tests/double/README says more.
EXTRA_DIST += tests/double/README
cli_tests += \
	tests/cli_bench_double.sh \
	tests/double_graph_real.sh
if HAVE_CUDNN
double_cuda = tests/double/libcuda.so.1
double_cudnn = tests/double/libcudnn.so.9
check_PROGRAMS += $(double_cuda) $(double_cudnn)
tests_double_libcuda_so_1_SOURCES = \
	tests/double/cuda_capture.c \
	tests/double/cuda_context.c \
	tests/double/cuda_kernels.c \
	tests/double/cuda_memory.c \
	tests/double/cuda_stream.c \
	tests/double/double.h \
	tests/double/faults.c \
	tests/double/number.c \
	tests/double/number.h \
	tests/double/settings.c \
	tests/double/state.h
tests_double_libcuda_so_1_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_libcuda_so_1_CFLAGS = $(AM_CFLAGS) -fPIC -fvisibility=hidden
tests_double_libcuda_so_1_LDFLAGS = $(AM_LDFLAGS) -Wc,-shared -pthread \
	-Wl,-soname,libcuda.so.1
tests_double_libcuda_so_1_LDADD = -lm
tests_double_libcudnn_so_9_SOURCES = \
	tests/double/convolve.c \
	tests/double/cudnn_backend.c \
	tests/double/cudnn_bias.c \
	tests/double/cudnn_choose.c \
	tests/double/cudnn_convolution.c \
	tests/double/cudnn_cost.c \
	tests/double/cudnn_descriptor.c \
	tests/double/cudnn_engines.c \
	tests/double/cudnn_execute.c \
	tests/double/cudnn_finalize.c \
	tests/double/cudnn_geometry.c \
	tests/double/cudnn_graph.h \
	tests/double/cudnn_handle.c \
	tests/double/cudnn_kinds.c \
	tests/double/cudnn_search.c \
	tests/double/cudnn_state.h \
	tests/double/cudnn_tensor.c \
	tests/double/double.h \
	tests/double/number.c \
	tests/double/number.h
tests_double_libcudnn_so_9_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_libcudnn_so_9_CFLAGS = $(AM_CFLAGS) -fPIC -fvisibility=hidden
tests_double_libcudnn_so_9_LDFLAGS = $(AM_LDFLAGS) -Wc,-shared \
	-Wl,-Bsymbolic -Wl,-soname,libcudnn.so.9 '-Wl,-rpath,$$ORIGIN'
tests_double_libcudnn_so_9_LDADD = $(double_cuda) -lm

double_programs = \
	tests/double_behaviour \
	tests/double_capture \
	tests/double_convolution \
	tests/double_faults \
	tests/double_graph \
	tests/double_graph_faults \
	tests/double_graph_plans \
	tests/double_numbers
unit_tests += $(double_programs)
# Run on the double and on the real library: opens either.
check_PROGRAMS += tests/client/backend
tests_client_backend_SOURCES = \
	tests/client/backend.c tests/client/backend.h \
	tests/client/backend_engines.c \
	tests/client/backend_tensors.c
tests_client_backend_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_client_backend_LDADD = -ldl
double_test_sources = tests/double_support.c tests/double_support.h \
	tests/double/number.c
double_test_ldadd = $(double_cudnn) $(double_cuda) $(CMOCKA_LIBS) -lm
double_test_ldflags = $(AM_LDFLAGS) -pthread \
	-Wl,-rpath,$(abs_top_builddir)/tests/double
tests_double_behaviour_SOURCES = tests/double_behaviour.c \
	$(double_test_sources)
tests_double_behaviour_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_behaviour_LDADD = $(double_test_ldadd)
tests_double_behaviour_LDFLAGS = $(double_test_ldflags)
tests_double_capture_SOURCES = tests/double_capture.c \
	$(double_test_sources)
tests_double_capture_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_capture_LDADD = $(double_test_ldadd)
tests_double_capture_LDFLAGS = $(double_test_ldflags)
tests_double_convolution_SOURCES = tests/double_convolution.c \
	$(double_test_sources)
tests_double_convolution_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_convolution_LDADD = $(double_test_ldadd)
tests_double_convolution_LDFLAGS = $(double_test_ldflags)
tests_double_faults_SOURCES = tests/double_faults.c \
	$(double_test_sources)
tests_double_faults_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_faults_LDADD = $(double_test_ldadd)
tests_double_faults_LDFLAGS = $(double_test_ldflags)
graph_test_sources = tests/graph_support.c tests/graph_support.h \
	$(double_test_sources)
tests_double_graph_SOURCES = tests/double_graph.c $(graph_test_sources)
tests_double_graph_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_graph_LDADD = $(double_test_ldadd)
tests_double_graph_LDFLAGS = $(double_test_ldflags)
tests_double_graph_faults_SOURCES = tests/double_graph_faults.c \
	$(graph_test_sources)
tests_double_graph_faults_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_graph_faults_LDADD = $(double_test_ldadd)
tests_double_graph_faults_LDFLAGS = $(double_test_ldflags)
tests_double_graph_plans_SOURCES = tests/double_graph_plans.c \
	$(graph_test_sources)
tests_double_graph_plans_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_graph_plans_LDADD = $(double_test_ldadd)
tests_double_graph_plans_LDFLAGS = $(double_test_ldflags)
tests_double_numbers_SOURCES = tests/double_numbers.c \
	$(double_test_sources)
tests_double_numbers_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_numbers_LDADD = $(double_test_ldadd)
tests_double_numbers_LDFLAGS = $(double_test_ldflags)
endif
