/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into a server, moves its wall clock by the number of microseconds in the file
 * that CLOCK_OFFSET names. The monotonic clock stays as it is, as with a real clock that is set.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile long long *offset;

__attribute__((constructor)) static void map_offset(void)
{
	int file = open(getenv("CLOCK_OFFSET"), O_RDONLY);
	void *content = mmap(NULL, sizeof(long long), PROT_READ, MAP_SHARED, file, 0);
	if (content == MAP_FAILED)
		abort();
	offset = content;
	close(file);
}

static void move(struct timespec *time, long long micros)
{
	long long nanos = time->tv_nsec + micros % 1000000 * 1000;
	time->tv_sec += micros / 1000000 + nanos / 1000000000 - (nanos < 0);
	time->tv_nsec = (nanos + 1000000000) % 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int result = syscall(SYS_clock_gettime, clock, time);
	if (result == 0 && clock == CLOCK_REALTIME)
		move(time, *offset);
	return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return 0;
}

/* The deadline is one of the moved clock, unless it is one of the time since the start of the machine */
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
		const struct timespec *restrict deadline)
{
	static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	struct timespec moved = *deadline;
	if (!wait)
		/* Without a version this may be one for the conditions of 2002 */
		*(void **)&wait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
	if (!wait)
		*(void **)&wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	if (moved.tv_sec > 1000000000)
		move(&moved, -*offset);
	return wait(condition, mutex, &moved);
}
