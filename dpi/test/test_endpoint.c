/* SPDX-License-Identifier: Apache-2.0 */
/* Whose socket a client connects to: the cases of test/vectors/endpoints, and what follows when it is another
 * user's. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "client.h"
#include "link/peer.h"

enum { OTHER = 65534 };

static const char cases[] = "../test/vectors/endpoints/cases.txt";

static int bind_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 4) == 0);
    return fd;
}

/* A link leads to a thing of the right kind, which is our own. */
static void make(const char *path, const char *owner, const char *mode, const char *kind)
{
    char target[300];
    snprintf(target, sizeof target, "%s.target", path);
    if (strcmp(kind, "none") == 0) return;
    if (strcmp(kind, "directory") == 0)
        CHECK(mkdir(path, 0700) == 0);
    else if (strcmp(kind, "socket") == 0)
        close(bind_socket(path));
    else if (strcmp(kind, "file") == 0)
        close(open(path, O_CREAT | O_WRONLY, 0600));
    else
        CHECK(mkdir(target, 0700) == 0 && symlink(target, path) == 0);
    if (*mode != '-') CHECK(chmod(path, (mode_t)strtoul(mode, NULL, 8)) == 0);
    if (strcmp(owner, "other") == 0) CHECK(lchown(path, OTHER, OTHER) == 0);
}

/* In a process, because the environment is read once. */
static void check_case(unsigned number, const char *place, const char *right)
{
    char directory[200], why[512] = "", endpoint[240];
    snprintf(directory, sizeof directory, "%s/%u", test_directory(), number);
    snprintf(endpoint, sizeof endpoint, "ipc://%s/uscope.sock", directory);
    if (strcmp(place, "default") == 0)
        CHECK(unsetenv("USCOPE_ENDPOINT") == 0 && setenv("XDG_RUNTIME_DIR", directory, 1) == 0);
    else
        setenv("USCOPE_ENDPOINT", endpoint, 1);
    bool trusted = uscopei_trusts_place(why, sizeof why);
    if (trusted != (strcmp(right, "trusted") == 0) || trusted != !*why)
        test_fail(cases, (int)number, "%s: %s", trusted ? "trusted" : "refused", why);
}

TEST(places_are_trusted_as_the_vectors_say)
{
    char line[256];
    unsigned number = 0, seen = 0;
    FILE *file = fopen(cases, "r");
    CHECK(file);
    while (fgets(line, sizeof line, file)) {
        char place[16], owner[2][16], mode[8], kind[2][16], right[16], path[240];
        number++;
        int words = sscanf(line, "%15s %15s %7s %15s %15s %15s %15s", place, owner[0], mode, kind[0],
                           owner[1], kind[1], right);
        if (*line == '#' || words != 7 || (geteuid() != 0 && strstr(line, "other"))) continue;
        snprintf(path, sizeof path, "%s/%u", test_directory(), number);
        make(path, owner[0], mode, kind[0]);
        strncat(path, "/uscope.sock", sizeof path - strlen(path) - 1);
        make(path, owner[1], "-", kind[1]);
        pid_t child = fork();
        if (child == 0) {
            check_case(number, place, right);
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        seen++;
    }
    fclose(file);
    CHECK(seen >= 12);
}

TEST(an_abstract_socket_is_refused)
{
    char why[512];
    setenv("USCOPE_ENDPOINT", "ipc://@name", 1);
    CHECK(!uscopei_trusts_place(why, sizeof why));
}

/* A socket as another user has it. Ends with status 1 when it gets a message. */
static void squat(void)
{
    int linger = 0, limit = 1000;
    char message[16];
    if (setgid(OTHER) != 0 || setuid(OTHER) != 0) _exit(2);
    void *router = zmq_socket(zmq_ctx_new(), ZMQ_ROUTER);
    zmq_setsockopt(router, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(router, ZMQ_RCVTIMEO, &limit, sizeof limit);
    if (zmq_bind(router, test_endpoint()) != 0) _exit(3);
    _exit(zmq_recv(router, message, sizeof message, 0) < 0 ? 0 : 1);
}

static struct child squatter;
static void let_go_when_awaited(const char *message, void *data)
{
    (void)data;
    if (strstr(message, "waiting for one")) child_go(squatter);
}

TEST(a_socket_that_another_user_makes_while_a_daemon_is_awaited_is_refused)
{
    if (geteuid() != 0) return;
    CHECK(chmod(test_directory(), 01777) == 0);
    squatter = child_new(squat);
    uscope_set_message_handler(let_go_when_awaited, NULL);
    CHECK(!uscope_writer_open("core0", NULL, NULL, 0));
    CHECK_TEXT(uscope_last_error_code(), "BRIDGE_ENDPOINT");
    CHECK(strstr(uscope_last_error_message(), "belongs to user 65534"));
    CHECK_NUMBER(child_wait(squatter), 0);
}

int main(int argc, char **argv)
{
    return run_tests(argc, argv);
}
