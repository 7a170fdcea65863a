package io.kamille.launcher.acme;

import java.util.Locale;

/** How a name is proved. */
enum Way {
  TLS_ALPN_01,
  HTTP_01,
  DNS_01;

  /** As authorities call it. */
  String type() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
