/* Records every change of files below a folder, in order, so that a loss of power can be replayed.

   Built and loaded by power.py (LD_PRELOAD). RECORD_ROOT is the folder, RECORD_LOG the file of
   records. A record is a kind (1 byte), an inode, a number, the lengths of two texts or blocks, and
   these. Kinds: c create, w write, t truncate, s sync, r rename, u unlink, m mkdir, d rmdir. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int record_fd = -1;
static char root[PATH_MAX];

__attribute__((constructor)) static void start(void) {
    const char *log = getenv("RECORD_LOG"), *folder = getenv("RECORD_ROOT");
    if (!log || !folder) return;
    snprintf(root, sizeof root, "%s/", folder);
    record_fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

struct __attribute__((packed)) head {
    char kind;
    uint64_t inode;
    int64_t number;
    uint32_t first, second;
};

static void record(char kind, uint64_t inode, int64_t number, const void *one, size_t n_one,
                   const void *two, size_t n_two) {
    struct head head = {kind, inode, number, n_one, n_two};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)one, n_one}, {(void *)two, n_two}};
    int kept = errno;
    if (syscall(SYS_writev, record_fd, parts, 3) < 0) abort();
    errno = kept;
}

/* The absolute path of a name; 0 if it is not below the folder. */
static int below(int folder, const char *name, char *path) {
    char start[PATH_MAX] = "", link[64];
    int number, length = 0;
    if (record_fd < 0 || !name) return 0;
    if (sscanf(name, "/proc/self/fd/%d/%n", &number, &length) == 1 && length) {
        folder = number; /* a path through the handle of a folder */
        name += length;
    }
    if (name[0] != '/') {
        if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t n = readlink(link, start, sizeof start - 1);
        if (n < 0) return 0;
        start[n] = 0;
    }
    if (snprintf(path, PATH_MAX, "%s%s%s", start, start[0] ? "/" : "", name) >= PATH_MAX) return 0;
    return strncmp(path, root, strlen(root)) == 0;
}

static int inode_below(int fd, uint64_t *inode, char *path) {
    char link[64];
    struct stat status;
    if (record_fd < 0) return 0;
    int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 2);
    int good = n >= 0;
    if (good) {
        path[n] = 0;
        good = !strncmp(path, root, strlen(root)) || !strncmp(path, root, strlen(root) - 1);
        good = good && fstat(fd, &status) == 0;
        *inode = good ? status.st_ino : 0;
    }
    errno = kept;
    return good;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int opened(int (*real)(int, const char *, int, ...), int folder, const char *name, int flags,
                  mode_t mode) {
    char path[PATH_MAX];
    struct stat status;
    if (!(flags & (O_CREAT | O_TRUNC)) || !below(folder, name, path))
        return real(folder, name, flags, mode);
    pthread_mutex_lock(&mutex);
    int kept = errno, existed = lstat(path, &status) == 0;
    errno = kept;
    int fd = real(folder, name, flags, mode);
    kept = errno;
    if (fd >= 0 && fstat(fd, &status) == 0) {
        if (!existed) record('c', status.st_ino, 0, path, strlen(path), "", 0);
        else if (flags & O_TRUNC) record('t', status.st_ino, 0, "", 0, "", 0);
    }
    errno = kept;
    pthread_mutex_unlock(&mutex);
    return fd;
}

static int by_syscall(int folder, const char *name, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return syscall(SYS_openat, folder, name, flags, mode);
}

#define MODE                                                                                       \
    mode_t mode = 0;                                                                               \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                         \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode = va_arg(more, mode_t);                                                               \
        va_end(more);                                                                              \
    }

int open(const char *name, int flags, ...) { MODE return opened(by_syscall, AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE return opened(by_syscall, AT_FDCWD, name, flags, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE return opened(by_syscall, folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE return opened(by_syscall, folder, name, flags, mode); }

ssize_t write(int fd, const void *data, size_t n) {
    REAL(write);
    uint64_t inode;
    char path[PATH_MAX];
    if (!inode_below(fd, &inode, path)) return real(fd, data, n);
    pthread_mutex_lock(&mutex);
    ssize_t done = real(fd, data, n);
    if (done > 0) record('w', inode, lseek(fd, 0, SEEK_CUR) - done, data, done, "", 0);
    pthread_mutex_unlock(&mutex);
    return done;
}

static ssize_t placed(ssize_t (*real)(int, const void *, size_t, off_t), int fd, const void *data,
                      size_t n, off_t place) {
    uint64_t inode;
    char path[PATH_MAX];
    if (!inode_below(fd, &inode, path)) return real(fd, data, n, place);
    pthread_mutex_lock(&mutex);
    ssize_t done = real(fd, data, n, place);
    if (done > 0) record('w', inode, place, data, done, "", 0);
    pthread_mutex_unlock(&mutex);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t place) {
    REAL(pwrite);
    return placed(real, fd, data, n, place);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t place) {
    REAL(pwrite64);
    return placed(real, fd, data, n, place);
}

static int cut(int (*real)(int, off_t), int fd, off_t size) {
    uint64_t inode;
    char path[PATH_MAX];
    if (!inode_below(fd, &inode, path)) return real(fd, size);
    pthread_mutex_lock(&mutex);
    int status = real(fd, size);
    if (!status) record('t', inode, size, "", 0, "", 0);
    pthread_mutex_unlock(&mutex);
    return status;
}

int ftruncate(int fd, off_t size) { REAL(ftruncate); return cut(real, fd, size); }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); return cut(real, fd, size); }

static int synced(int (*real)(int), int fd) {
    uint64_t inode;
    char path[PATH_MAX];
    if (!inode_below(fd, &inode, path)) return real(fd);
    pthread_mutex_lock(&mutex); /* the disk itself need not be waited for: nobody pulls the plug */
    record('s', inode, 0, path, strlen(path), "", 0);
    pthread_mutex_unlock(&mutex);
    return 0;
}

int fsync(int fd) { REAL(fsync); return synced(real, fd); }
int fdatasync(int fd) { REAL(fdatasync); return synced(real, fd); }

int renameat(int from, const char *one, int to, const char *two) {
    char first[PATH_MAX], second[PATH_MAX];
    int is_ours = below(from, one, first) && below(to, two, second);
    pthread_mutex_lock(&mutex);
    int status = syscall(SYS_renameat2, from, one, to, two, 0);
    if (!status && is_ours) record('r', 0, 0, first, strlen(first), second, strlen(second));
    pthread_mutex_unlock(&mutex);
    return status;
}

int rename(const char *one, const char *two) { return renameat(AT_FDCWD, one, AT_FDCWD, two); }

int unlinkat(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    int is_ours = below(folder, name, path);
    pthread_mutex_lock(&mutex);
    int status = syscall(SYS_unlinkat, folder, name, flags);
    char kind = flags & AT_REMOVEDIR ? 'd' : 'u';
    if (!status && is_ours) record(kind, 0, 0, path, strlen(path), "", 0);
    pthread_mutex_unlock(&mutex);
    return status;
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int mkdirat(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    int is_ours = below(folder, name, path);
    pthread_mutex_lock(&mutex);
    int status = syscall(SYS_mkdirat, folder, name, mode);
    if (!status && is_ours) record('m', 0, 0, path, strlen(path), "", 0);
    pthread_mutex_unlock(&mutex);
    return status;
}

int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }
