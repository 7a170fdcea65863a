package io.kamille.launcher.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The API of the process that runs on this machine, by its local socket. No token is needed: the
 * file's mode lets nobody else in. Blocking; any thread.
 */
public final class LocalApi {

  private static final int ANSWER_LIMIT_BYTES = 16 << 20;

  private final Path socket;

  /**
   * An answer.
   *
   * @param fields by lower-case name
   */
  public record Reply(int status, Map<String, String> fields, String content) {

    /** Whether the request was fulfilled. */
    public boolean isSuccessful() {
      return status >= 200 && status < 300;
    }
  }

  /** The API whose state lies in a directory. */
  public LocalApi(Path stateDirectory) {
    this.socket = socket(stateDirectory);
  }

  /** Where a process listens whose state lies in that directory. */
  public static Path socket(Path stateDirectory) {
    return stateDirectory.resolve("admin.sock");
  }

  /**
   * Asks.
   *
   * @param fields further header fields
   * @param content null for none
   * @throws IOException if nobody listens there or the answer breaks off; the message is a sentence
   */
  public Reply ask(
      String method, String target, Map<String, String> fields, @Nullable String content)
      throws IOException {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      connect(channel);
      ByteBuffer request = ByteBuffer.wrap(request(method, target, fields, content));
      while (request.hasRemaining()) {
        channel.write(request);
      }
      try (InputStream in = Channels.newInputStream(channel)) {
        byte[] answer = in.readNBytes(ANSWER_LIMIT_BYTES + 1);
        if (answer.length > ANSWER_LIMIT_BYTES) {
          throw new IOException("the answer is longer than 16 MiB");
        }
        return reply(new String(answer, StandardCharsets.UTF_8));
      }
    }
  }

  private void connect(SocketChannel channel) throws IOException {
    try {
      channel.connect(UnixDomainSocketAddress.of(socket));
    } catch (IOException nobody) {
      throw new IOException(
          socket
              + ": nobody answers ("
              + nobody.getMessage()
              + (isForbidden()
                  ? "). Ask as the user of Kamille, or as root."
                  : "). Is Kamille running? --state names its state directory."),
          nobody);
    }
  }

  private boolean isForbidden() {
    return Files.exists(socket) && !Files.isWritable(socket);
  }

  private static byte[] request(
      String method, String target, Map<String, String> fields, @Nullable String content) {
    byte[] octets = content == null ? new byte[0] : content.getBytes(StandardCharsets.UTF_8);
    StringBuilder head = new StringBuilder();
    head.append(method).append(' ').append(target).append(" HTTP/1.1\r\n");
    head.append("Host: localhost\r\nConnection: close\r\n");
    fields.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    if (content != null) {
      head.append("Content-Length: ").append(octets.length).append("\r\n");
    }
    byte[] start = head.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(start.length + octets.length).put(start).put(octets).array();
  }

  private static Reply reply(String text) throws IOException {
    int end = text.indexOf("\r\n\r\n");
    if (!text.startsWith("HTTP/1.1 ") || end < 12) {
      throw new IOException("the answer broke off");
    }
    Map<String, String> fields = new LinkedHashMap<>();
    text.substring(0, end)
        .lines()
        .skip(1)
        .forEach(
            line -> {
              int colon = line.indexOf(':');
              if (colon > 0) {
                fields.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
              }
            });
    String content = text.substring(end + 4);
    String octets = fields.get("content-length");
    if (octets != null
        && content.getBytes(StandardCharsets.UTF_8).length != Long.parseLong(octets)) {
      throw new IOException("the answer broke off");
    }
    return new Reply(Integer.parseInt(text, 9, 12, 10), fields, content);
  }
}
