# The frame: every test speaks TAP, so that each case counts.
#
# unit_tests: cmocka programs, tests/NAME.c each.
# cli_tests:  shell scripts that run ucudnn-plan.
# gpu_tests:  programs and scripts named gpu_*; they skip without a GPU.
unit_tests =
cli_tests =
gpu_tests =
# Programs of `make bench`: built only then.
bench_programs =
# GPU code, which `make coverage` cannot run.
coverage_exclude =

TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/tap.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	abs_top_srcdir='$(abs_top_srcdir)'; export abs_top_srcdir; \
	abs_top_builddir='$(abs_top_builddir)'; export abs_top_builddir; \
	UCUDNN_DATA_DIR='$(abs_top_srcdir)/db'; export UCUDNN_DATA_DIR; \
	PATH='$(abs_top_builddir)':"$$PATH"; export PATH; \
	AWK='$(AWK)'; export AWK;
EXTRA_DIST += tests/lib.sh tests/tap.sh tests/unit.h

# What a test program links when it does not say (archives give only what
# is used).
LDADD = libuc-planner.a $(runtime_library) libuc-db.a libuc-common.a \
	$(CMOCKA_LIBS) \
	$(GLPK_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) -lm

# common
unit_tests += \
	tests/bytes_parse \
	tests/error_wrap

# build
cli_tests += \
	tests/configure_cuda.sh

# command line
unit_tests += \
	tests/opt_parse
cli_tests += \
	tests/cli_main.sh

# db: profiles and plans
EXTRA_DIST += tests/db_support.h tests/plan_support.h
unit_tests += \
	tests/db_size \
	tests/plan_store \
	tests/profile_store

# networks, policies and shipped data
unit_tests += \
	tests/data_find \
	tests/network_faults \
	tests/network_read \
	tests/network_shapes \
	tests/policy_sizes
tests_network_shapes_SOURCES = tests/network_shapes.c \
	tests/network_walks.c tests/network_walks.h
cli_tests += \
	tests/cli_networks.sh

# desirable sets, workspace reuse and division
unit_tests += \
	tests/desirable_build \
	tests/wd_glpk_error \
	tests/wd_solve

# The speed of the planner: `make bench`.
bench_programs += tests/bench_planner

# The double of the CUDA driver and of cuDNN: two shared objects, made like
# programs since there is no libtool here. tests/double/README says more.
EXTRA_DIST += tests/double/README
if HAVE_CUDNN
double_cuda = tests/double/libcuda.so.1
double_cudnn = tests/double/libcudnn.so.9
check_PROGRAMS += $(double_cuda) $(double_cudnn)
tests_double_libcuda_so_1_SOURCES = \
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
tests_double_libcuda_so_1_LDFLAGS = $(AM_LDFLAGS) -shared -pthread \
	-Wl,-soname,libcuda.so.1
tests_double_libcuda_so_1_LDADD = -lm
tests_double_libcudnn_so_9_SOURCES = \
	tests/double/convolve.c \
	tests/double/cudnn_bias.c \
	tests/double/cudnn_convolution.c \
	tests/double/cudnn_cost.c \
	tests/double/cudnn_descriptor.c \
	tests/double/cudnn_geometry.c \
	tests/double/cudnn_handle.c \
	tests/double/cudnn_search.c \
	tests/double/cudnn_state.h \
	tests/double/cudnn_tensor.c \
	tests/double/double.h \
	tests/double/number.c \
	tests/double/number.h
tests_double_libcudnn_so_9_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_libcudnn_so_9_CFLAGS = $(AM_CFLAGS) -fPIC -fvisibility=hidden
tests_double_libcudnn_so_9_LDFLAGS = $(AM_LDFLAGS) -shared \
	-Wl,-soname,libcudnn.so.9 '-Wl,-rpath,$$ORIGIN'
tests_double_libcudnn_so_9_LDADD = $(double_cuda) -lm

double_programs = \
	tests/double_behaviour \
	tests/double_convolution \
	tests/double_faults \
	tests/double_numbers
unit_tests += $(double_programs)
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
tests_double_numbers_SOURCES = tests/double_numbers.c \
	$(double_test_sources)
tests_double_numbers_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_double_numbers_LDADD = $(double_test_ldadd)
tests_double_numbers_LDFLAGS = $(double_test_ldflags)
endif

# Keep this at the end.
if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
else
# Fails, and says why: unit tests that were not built have not passed.
TESTS += tests/needs_cmocka.sh
endif
TESTS += $(cli_tests) $(gpu_tests)
EXTRA_PROGRAMS = $(bench_programs)
CLEANFILES += $(bench_programs)
EXTRA_DIST += $(cli_tests) tests/needs_cmocka.sh
