/*
 * SoftHSM behind faults: a PKCS#11 module that passes every call on, and does to SoftHSM what a device does to its
 * applications when it is restarted, unplugged, or managed by somebody else.
 *
 * PKCS11_FAULT names a file. When it exists, the next C_DecryptInit removes it and does what it says:
 *   sessions  closes all sessions of the application, which then are invalid
 *   login     logs the user out
 *   device    answers CKR_DEVICE_REMOVED to everything, until the module is ended and started again
 *   hang      lets the next C_Decrypt of 17 to 31 bytes never return, which is none of the plugin's own
 *
 * As long as a file with the same name and the end .no-ecb exists, CKM_AES_ECB is refused, as by a token whose policy or
 * firmware was changed. As long as one with the end .inactive exists, keys with the CKA_ID 01 decrypt nothing, as keys past
 * their CKA_END_DATE in some devices.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE "/usr/lib/softhsm/libsofthsm2.so"
#define CKR_GENERAL_ERROR 5UL
#define CKR_DEVICE_REMOVED 0x32UL
#define CKR_MECHANISM_INVALID 0x70UL
#define CKR_KEY_NOT_ACTIVE 0x80000136UL /* of a vendor */
#define CKM_AES_ECB 0x1081UL
#define CKA_ID 0x102UL

typedef unsigned long ulong_t;
typedef ulong_t (*any)(void *, void *, void *, void *, void *, void *);

/* CK_FUNCTION_LIST of PKCS#11 2.40: its version, then 68 functions in the order of the standard. */
enum { INITIALIZE = 0, FINALIZE = 1, CLOSE_ALL = 14, SESSION_INFO = 15, LOGOUT = 19, GET_ATTRIBUTE = 24, DECRYPT_INIT = 33, DECRYPT = 34, FUNCTIONS = 68 };
struct list {
    unsigned char version[2];
    any functions[FUNCTIONS];
};
struct attribute {
    ulong_t type;
    void *value;
    ulong_t length;
};
struct session_info {
    ulong_t slot, state, flags, error;
};

static struct list real, ours;
static volatile int is_removed, hangs;

static void take_fault(void *session) {
    char word[16] = "";
    const char *path = getenv("PKCS11_FAULT");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return;
    if (fscanf(file, "%15s", word) != 1) word[0] = 0;
    fclose(file);
    unlink(path);
    struct session_info info;
    if (!strcmp(word, "sessions") && !real.functions[SESSION_INFO](session, &info, 0, 0, 0, 0))
        real.functions[CLOSE_ALL]((void *)info.slot, 0, 0, 0, 0, 0);
    else if (!strcmp(word, "login"))
        real.functions[LOGOUT](session, 0, 0, 0, 0, 0);
    else if (!strcmp(word, "device"))
        is_removed = 1;
    else if (!strcmp(word, "hang"))
        hangs = 1;
}

static int has_file(const char *end) {
    char name[4096];
    const char *path = getenv("PKCS11_FAULT");
    if (!path) return 0;
    snprintf(name, sizeof name, "%s%s", path, end);
    return !access(name, F_OK);
}

static int refuses(const ulong_t *mechanism) {
    return *mechanism == CKM_AES_ECB && has_file(".no-ecb");
}

static int is_inactive(void *session, void *key) {
    unsigned char id = 0;
    struct attribute wanted = {CKA_ID, &id, sizeof id};
    return has_file(".inactive") && !real.functions[GET_ATTRIBUTE](session, key, &wanted, (void *)1, 0, 0) && id == 1;
}

static volatile int is_destroyed;

/* As the libraries below SoftHSM do, whose destructors run when a process ends by exit(). */
__attribute__((destructor)) static void destroy(void) {
    is_destroyed = 1;
    usleep(100000);
}

/* A thread that is still in a module whose data are destroyed crashes. */
static void take_hang(ulong_t length) {
    if (length <= 16 || length >= 32 || !__sync_bool_compare_and_swap(&hangs, 1, 0)) return;
    while (!is_destroyed) usleep(1000);
    abort();
}

/* The number of the function is part of its name, since a call does not tell by which pointer it came. */
#define PASS(number)                                                                         \
    static ulong_t pass_##number(void *a, void *b, void *c, void *d, void *e, void *f) {     \
        if (number == DECRYPT_INIT) take_fault(a);                                           \
        if (number == DECRYPT) take_hang((ulong_t)c);                                        \
        if (number == FINALIZE) is_removed = 0;                                              \
        if (is_removed) return CKR_DEVICE_REMOVED;                                           \
        if (number == DECRYPT_INIT && refuses(b)) return CKR_MECHANISM_INVALID;              \
        if (number == DECRYPT_INIT && is_inactive(a, c)) return CKR_KEY_NOT_ACTIVE;          \
        return real.functions[number](a, b, c, d, e, f);                                     \
    }
#define TEN(x, tens) x(tens##0) x(tens##1) x(tens##2) x(tens##3) x(tens##4) x(tens##5) x(tens##6) x(tens##7) x(tens##8) x(tens##9)
#define ALL(x) TEN(x, ) TEN(x, 1) TEN(x, 2) TEN(x, 3) TEN(x, 4) TEN(x, 5) x(60) x(61) x(62) x(63) x(64) x(65) x(66) x(67)
ALL(PASS)
#define SET(number) ours.functions[number] = pass_##number;

ulong_t C_GetFunctionList(struct list **list) {
    void *library = dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);
    ulong_t (*get)(struct list **) = library ? (ulong_t(*)(struct list **))dlsym(library, "C_GetFunctionList") : NULL;
    struct list *found = NULL;
    if (!get || get(&found)) return CKR_GENERAL_ERROR;
    real = ours = *found;
    ALL(SET)
    *list = &ours;
    return 0;
}
