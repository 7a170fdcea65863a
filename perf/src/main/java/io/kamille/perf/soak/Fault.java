package io.kamille.perf.soak;

/** What an origin in trouble does instead of answering properly. */
enum Fault {
  CLOSE_BEFORE_HEAD,
  RESET_BEFORE_HEAD,
  CLOSE_IN_HEAD,
  RESET_IN_HEAD,
  HANG_BEFORE_HEAD,
  DRIP_HEAD,
  NONSENSE,
  TWO_LENGTHS,
  LONG_HEAD,
  ERROR_500,
  ERROR_503,
  CLOSE_IN_CONTENT,
  RESET_IN_CONTENT,
  HANG_IN_CONTENT,
  SURPLUS
}
