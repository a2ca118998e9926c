/* A process of `sinew demo --languages`: makes the nodes that its command line names, as `sinew-container` does, and
 * ends with the demonstration. */
#include <signal.h>
#include <sinew/sinew.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return sinew_container_run(argc, (const char *const *)argv);
}
