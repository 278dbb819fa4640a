// Several versions of a function in one binary, for processors with and without wide vectors.
#pragma once

// The loader picks the version that the processor can run. All of them round alike: lanes do not
// mix, and no multiplication is fused with an addition. The sanitizers run before the loader is
// ready to choose.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define RULESEARCH_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RULESEARCH_CLONES
#endif
