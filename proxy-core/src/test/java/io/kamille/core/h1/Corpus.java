package io.kamille.core.h1;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Octets worth parsing, and ways to spoil them. Octets are written as ISO 8859-1 text. */
public final class Corpus {

  /*
   * One message, several messages in a row, and the ambiguities that request smuggling has lived
   * on: each a valid message a mutation or two away from trouble, or the trouble itself.
   */
  public static final List<String> REQUESTS =
      wire(
          "GET / HTTP/1.1~Host: a~~",
          "GET /a/b?c=d&e HTTP/1.1~Host: example.org:8080~Accept: */*~X:~Y: z ~~",
          "get http://b/c?d HTTP/1.1~Host: a~Connection: close, x~~",
          "OPTIONS * HTTP/1.1~Host: [::1]:80~~",
          "CONNECT b:443 HTTP/1.1~Host: b:443~~",
          "GET / HTTP/1.0~~GET /2 HTTP/1.0~Connection: keep-alive~~",
          "~~HEAD / HTTP/1.1~Host: a~Cookie: \u00e4=\t\u00ff~~",
          "POST / HTTP/1.1~Host: a~Content-Length: 5~~helloGET /2 HTTP/1.1~Host: b~~",
          "POST / HTTP/1.1~Host: a~Content-Length: 0~~GET /2 HTTP/1.1~Host: b~~",
          "POST / HTTP/1.1~Host: a~Transfer-Encoding: chunked~~5~hello~0~~GET /2 HTTP/1.1~Host: b~~",
          "PUT / HTTP/1.1~Transfer-Encoding: Chunked~Host: a~~00a;ext=\"x\"~0123456789~1 ;y~z~0;q~Digest: d~Via: w~~GET /2 HTTP/1.1~Host: b~~",
          "POST / HTTP/1.1~Host: a~Content-Length: 6~Transfer-Encoding: chunked~~0~~G",
          "POST / HTTP/1.1~Host: a~Transfer-Encoding: gzip, chunked~~0~~",
          "POST / HTTP/1.1~Host: a~Transfer-Encoding: chunked~Transfer-Encoding: x~~0~~",
          "POST / HTTP/1.1~Host: a~Content-Length: 1~Content-Length: 2~~xy",
          "POST / HTTP/1.1~Host: a~Content-Length: 1, 1~~x",
          "POST / HTTP/1.1~Host: a~Content-Length : 1~~x",
          "POST / HTTP/1.1~Host: a~X: y~ Content-Length: 1~~x",
          "POST / HTTP/1.1~Host: a~X: y\nContent-Length: 1~~x",
          "POST / HTTP/1.1~Host: a~X: y\rContent-Length: 1~~x",
          "POST / HTTP/1.1~Host: a~Transfer-Encoding: \u000bchunked~~0~~",
          "GET / HTTP/1.1~Host: a~Host: b~~",
          "GET / HTTP/1.1~Host: a~Upgrade: websocket~Connection: upgrade~~\u0001\u0002",
          "POST / HTTP/1.1~Host: a~Expect: 100-continue~Content-Length: 2~~ab",
          "M-SEARCH //x HTTP/1.2~Host: a.~~");

  public static final List<String> RESPONSES =
      wire(
          "HTTP/1.1 200 OK~Content-Length: 5~~helloHTTP/1.1 204 No Content~~",
          "HTTP/1.1 200 OK~Transfer-Encoding: chunked~~5;x~hello~0~Digest: d~Vary: x~~HTTP/1.1 404 ~Content-Length: 0~~",
          "HTTP/1.0 200 OK~Server: x~~everything until the end",
          "HTTP/1.1 103 Early Hints~Link: </a>~~HTTP/1.1 200~Content-Length: 1~~x",
          "HTTP/1.1 304 Not Modified~ETag: \"a\"~Content-Length: 500~~HTTP/1.1 200 OK~Content-Length: 2~~ab",
          "HTTP/1.1 204 No Content~Content-Length: 3~~HTTP/1.1 200 OK~Content-Length: 0~~",
          "HTTP/1.1 200 OK~Content-Length: 3~Transfer-Encoding: chunked~~0~~",
          "HTTP/1.1 200 OK~Content-Length: 3~Content-Length: 3~~abc",
          "HTTP/1.1 200 OK~Transfer-Encoding: gzip~~abc",
          "HTTP/1.1 200 Very \t \u00e4 Good~Set-Cookie: a=b~Set-Cookie: c=d~X:~~",
          "HTTP/1.1 999 x~Content-Length: 1~~x",
          "HTTP/1.5 500 x~Content-Length:\t 1 \t~~x");

  private static final String SPICE =
      "\r\n\t :;,\0\u000b\u007f\u0080\u00a0\u00ff\"/*?#@[]%0123456789abcdefxXHTP.=-+_";

  private static final List<String> PHRASES =
      List.of(
          "\r\n",
          "\r\n\r\n",
          "0\r\n\r\n",
          "Host: b\r\n",
          "Content-Length: 3\r\n",
          "Content-Length: +3\r\n",
          "Transfer-Encoding: chunked\r\n",
          "Transfer-Encoding: chunked, identity\r\n",
          "Connection: close\r\n",
          " ",
          "\r\n ",
          "HTTP/1.0",
          "HTTP/1.1",
          "chunked",
          "ffffffff",
          "00000000");

  private Corpus() {}

  /** A tilde stands for CRLF. */
  private static List<String> wire(String... messages) {
    return Stream.of(messages).map(message -> message.replace("~", "\r\n")).toList();
  }

  /** One of the seeds with a few things done to it. */
  public static String mutant(List<String> seeds, SplittableRandom random) {
    StringBuilder text = new StringBuilder(seeds.get(random.nextInt(seeds.size())));
    for (int i = random.nextInt(4); i >= 0 && !text.isEmpty(); i--) {
      mutate(text, seeds, random);
    }
    return text.toString();
  }

  private static void mutate(StringBuilder text, List<String> seeds, SplittableRandom random) {
    int at = random.nextInt(text.length());
    int end = Math.min(text.length(), at + 1 + random.nextInt(12));
    switch (random.nextInt(9)) {
      case 0 -> text.setCharAt(at, spice(random));
      case 1 -> text.insert(at, spice(random));
      case 2 -> text.deleteCharAt(at);
      case 3 -> text.delete(at, end);
      case 4 -> text.insert(at, text.substring(at, end));
      case 5 -> text.insert(at, PHRASES.get(random.nextInt(PHRASES.size())));
      case 6 -> {
        String other = seeds.get(random.nextInt(seeds.size()));
        text.insert(at, other.substring(random.nextInt(other.length())));
      }
      case 7 -> {
        int line = text.indexOf("\r\n", at);
        if (line >= 0) {
          text.insert(line + 2, PHRASES.get(random.nextInt(PHRASES.size())));
        }
      }
      default -> text.setCharAt(at, (char) (text.charAt(at) ^ (1 << random.nextInt(8))));
    }
  }

  private static char spice(SplittableRandom random) {
    return SPICE.charAt(random.nextInt(SPICE.length()));
  }
}
