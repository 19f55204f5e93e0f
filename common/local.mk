noinst_LIBRARIES += libuc-common.a
libuc_common_a_SOURCES = \
	common/array.c common/array.h \
	common/beside.c common/beside.h \
	common/bytes.c common/bytes.h \
	common/clock.c common/clock.h \
	common/device.c common/device.h \
	common/error.c common/error.h \
	common/kernel.c common/kernel.h \
	common/log.c common/log.h \
	common/problem.c common/problem.h \
	common/problem_canonical.c \
	common/problem_text.c \
	common/real.c common/real.h \
	common/date.c common/date.h \
	common/sum.c common/sum.h \
	common/text.c common/text.h \
	common/write.c common/write.h
