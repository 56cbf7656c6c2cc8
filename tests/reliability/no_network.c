/* Preloaded into a process: writes down every attempt to reach a network, whoever makes it, and lets none succeed. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static void note(const char *what)
{
    FILE *log = fopen(getenv("NETWORK_LOG"), "a");
    if (log) {
        fprintf(log, "%s\n", what);
        fclose(log);
    }
}

int connect(int socket, const struct sockaddr *address, socklen_t length)
{
    (void)socket;
    (void)length;
    if (address->sa_family == AF_UNIX) {
        errno = ECONNREFUSED; /* a socket of this machine: no network */
        return -1;
    }
    note("connect");
    errno = ENETUNREACH;
    return -1;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    (void)service;
    (void)hints;
    (void)result;
    note(node ? node : "getaddrinfo");
    return EAI_FAIL;
}
