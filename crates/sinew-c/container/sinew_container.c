/* The program `sinew-container`: nodes of shared libraries in one process, see its `--help`. */
#include <sinew/sinew.h>

int main(int argc, char **argv)
{
    return sinew_container_run(argc, (const char *const *)argv);
}
