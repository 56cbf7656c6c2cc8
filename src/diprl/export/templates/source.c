#include "$name.h"

#include <float.h>
#include <math.h>

/* Products and sums must round one by one, in the order written: that is what the program means. */
#if defined(__FAST_MATH__)
#error "compile without -ffast-math: it changes what the program decides"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(FLT_EVAL_METHOD) && ((FLT_EVAL_METHOD < 0) || (FLT_EVAL_METHOD == 1) || (FLT_EVAL_METHOD == 2))
#error "compile for arithmetic in the type itself, such as -msse2 -mfpmath=sse on 32-bit x86"
#endif

const char *${name}_signature(void)
{
    return "$signature";
}
