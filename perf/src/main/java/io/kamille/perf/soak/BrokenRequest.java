package io.kamille.perf.soak;

import java.util.List;
import java.util.SplittableRandom;

/** Requests that no proxy may forward, with the section of RFC 9112 that says so. */
final class BrokenRequest {

  private static final String GET = "GET %TARGET% HTTP/1.1\r\n";
  private static final String POST = "POST %TARGET% HTTP/1.1\r\nHost: soak.example\r\n";

  private static final List<String> ALL =
      List.of(
          // 3.2: no Host, and two
          GET + "\r\n",
          GET + "Host: a.example\r\nHost: b.example\r\n\r\n",
          // 5.1: a space before the colon
          GET + "Host: soak.example\r\nX-Field : a\r\n\r\n",
          // 5.2: a folded line
          GET + "Host: soak.example\r\nX-Field: a\r\n b\r\n\r\n",
          // 2.2: a bare CR
          GET + "Host: soak.example\r\nX-Field: a\rb\r\n\r\n",
          // 5.5 of RFC 9110: NUL
          GET + "Host: soak.example\r\nX-Field: a\0b\r\n\r\n",
          // 6.3: contradictory lengths, and a length beside chunks
          POST + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
          POST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          POST + "Content-Length: +1\r\n\r\na",
          // 6.1: another coding than chunked
          POST + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
          POST + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
          // 7.1: no chunk size
          POST + "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
          POST + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\na\r\n0\r\n\r\n",
          // 2.3: no such version
          "GET %TARGET% HTTP/9.9\r\nHost: soak.example\r\n\r\n",
          "GET %TARGET%\r\n\r\n",
          // 3.2.3: for forward proxies
          "CONNECT soak.example:80 HTTP/1.1\r\nHost: soak.example:80\r\n\r\n");

  private BrokenRequest() {}

  static String any(SplittableRandom random, Subject subject) {
    return ALL.get(random.nextInt(ALL.size())).replace("%TARGET%", subject.target());
  }
}
