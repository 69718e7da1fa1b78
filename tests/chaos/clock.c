// Moves the wall clock of a program by the seconds that the file $NIGHTJAR_CLOCK holds as a 64-bit
// number. tests/chaos and the soak load it with LD_PRELOAD and write to the file while the program
// runs. Other clocks stay as they are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int (*real)(clockid_t, struct timespec *);
static const volatile int64_t *offset_seconds;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("NIGHTJAR_CLOCK");
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *page = mmap(NULL, sizeof *offset_seconds, PROT_READ, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) offset_seconds = page;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  const int status = real(clock, now);
  if (status == 0 && offset_seconds && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    now->tv_sec += *offset_seconds;
  return status;
}

int gettimeofday(struct timeval *now, void *zone) {
  (void)zone;
  struct timespec precise;
  const int status = clock_gettime(CLOCK_REALTIME, &precise);
  if (status == 0) {
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
  }
  return status;
}

time_t time(time_t *copy) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (copy) *copy = now.tv_sec;
  return now.tv_sec;
}
