package io.kamille.perf.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.List;

/**
 * A response of a scripted origin.
 *
 * @param fieldLines all but Content-Length, {@code Name: value}
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares answers
public record ScriptedAnswer(int status, List<String> fieldLines, byte[] content) {

  /** Sends it, without content to a HEAD request. */
  public void send(ScriptedOrigin.Request request, Socket connection) throws IOException {
    OutputStream out = connection.getOutputStream();
    out.write(request.method().equals("HEAD") ? head() : octets());
  }

  /** The octets on the wire. */
  public byte[] octets() {
    byte[] head = head();
    byte[] octets = new byte[head.length + content.length];
    System.arraycopy(head, 0, octets, 0, head.length);
    System.arraycopy(content, 0, octets, head.length, content.length);
    return octets;
  }

  private byte[] head() {
    var head = new StringBuilder("HTTP/1.1 ").append(status).append(" -\r\n");
    fieldLines.forEach(line -> head.append(line).append("\r\n"));
    return head.append("Content-Length: ")
        .append(content.length)
        .append("\r\n\r\n")
        .toString()
        .getBytes(US_ASCII);
  }
}
