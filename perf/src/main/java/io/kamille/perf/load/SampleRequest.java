package io.kamille.perf.load;

import io.kamille.core.http.RequestHead;
import java.nio.charset.StandardCharsets;

/** Requests as they are sent: by a tool with three field lines, by a browser with fifteen. */
public enum SampleRequest {
  CURL(
      """
      User-Agent: curl/8.14.1
      Accept: */*
      """),

  BROWSER(
      """
      Connection: keep-alive
      sec-ch-ua: "Chromium";v="142", "Not_A Brand";v="99"
      sec-ch-ua-mobile: ?0
      sec-ch-ua-platform: "Linux"
      Upgrade-Insecure-Requests: 1
      User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)
      Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8
      Sec-Fetch-Site: same-origin
      Sec-Fetch-Mode: navigate
      Sec-Fetch-Dest: document
      Referer: http://www.example.org/articles/2026/
      Accept-Encoding: gzip, deflate, br, zstd
      Accept-Language: de-DE,de;q=0.9,en;q=0.8
      Cookie: session=5f2b7c0e9d1a4c3f8e6b; theme=dark; consent=1
      """);

  private static final String HOST = "www.example.org";
  private static final String TARGET = "/articles/2026/kamille?page=2";

  private final String lines;

  SampleRequest(String lines) {
    this.lines = lines;
  }

  /** The head as it goes over the wire. */
  public byte[] octets() {
    String head = "GET " + TARGET + " HTTP/1.1\nHost: " + HOST + "\n" + lines + "\n";
    return head.replace("\n", "\r\n").getBytes(StandardCharsets.US_ASCII);
  }

  /** The head as stations see it. */
  public RequestHead head() {
    RequestHead head = RequestHead.of("GET", "http://" + HOST + TARGET);
    for (String line : lines.lines().toList()) {
      int colon = line.indexOf(": ");
      head.fields().add(line.substring(0, colon), line.substring(colon + 2));
    }
    return head;
  }
}
