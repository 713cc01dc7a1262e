// Code that is compiled for several generations of processors.
#ifndef SCHEDSIM_CORE_BASE_PROCESSORS_H_
#define SCHEDSIM_CORE_BASE_PROCESSORS_H_

// For functions that loop over hundreds of nodes: they are compiled three times, also for processors that
// work on four numbers at once and on eight, and the program chooses when it starts. All do the same
// operations, so that the results are equal. Sanitizers are not ready yet when the choice is made.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)
#define SCHEDSIM_FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SCHEDSIM_FOR_EACH_PROCESSOR
#endif

#endif  // SCHEDSIM_CORE_BASE_PROCESSORS_H_
