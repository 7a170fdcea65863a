package io.kamille.core.answer;

import io.kamille.core.http.NormalPath;
import io.kamille.core.http.RequestHead;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where paths have moved, by the lines {@code FROM,TO[,STATUS]} of a file. Immutable; any thread.
 */
final class RedirectTable {

  /*
   * A path costs one look-up, and one for each length that a prefix in the file has. Octets are
   * compared, so that a request that has not moved makes no text.
   */
  private static final int MOST_OCTETS = 16 << 20;
  private static final int MOST_LINES = 100_000;
  private static final String USUAL_STATUS = "308";
  private static final List<String> STATUS = List.of("301", "302", "303", "307", USUAL_STATUS);
  private static final char STAR = '*';

  static final RedirectTable EMPTY = new RedirectTable();

  /** Where a path has moved. */
  record Moved(String to, int status) {}

  private final Map<AsciiString, Moved> paths = new HashMap<>();
  private final Map<AsciiString, Moved> prefixes = new HashMap<>();
  private int[] lengths = {};

  private RedirectTable() {}

  /**
   * Reads a file; blocks.
   *
   * @throws IOException if it is not right as a whole; the message names the first wrong line
   */
  static RedirectTable read(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new IOException("it is no file");
    }
    byte[] content;
    try (var in = Files.newInputStream(file)) {
      content = in.readNBytes(MOST_OCTETS + 1);
    }
    if (content.length > MOST_OCTETS) {
      throw new IOException("it has more than 16MiB");
    }
    var table = new RedirectTable();
    int number = 0;
    for (String line : new String(content, StandardCharsets.UTF_8).lines().toList()) {
      number++;
      if (!line.isBlank() && !line.startsWith("#")) {
        table.add(line.strip(), number);
      }
    }
    table.lengths =
        table.prefixes.keySet().stream()
            .mapToInt(AsciiString::length)
            .distinct()
            .sorted()
            .toArray();
    return table;
  }

  private void add(String line, int number) throws IOException {
    String[] parts = line.split(" *, *", -1);
    String status = parts.length == 3 ? parts[2] : USUAL_STATUS;
    if (parts.length < 2 || parts.length > 3 || !STATUS.contains(status)) {
      throw wrong(
          number, "FROM,TO or FROM,TO,STATUS with a status of " + String.join(", ", STATUS));
    }
    boolean isPrefix = parts[0].endsWith("/*");
    String from = isPrefix ? parts[0].substring(0, parts[0].length() - 1) : parts[0];
    if (!isPath(from)) {
      throw wrong(number, "a path as routes compare it, perhaps with /* at its end");
    }
    String to = parts[1];
    String plain = to.endsWith("/*") && isPrefix ? to.substring(0, to.length() - 1) : to;
    if (!Redirect.isTarget(plain) || plain.indexOf('{') >= 0 || plain.indexOf(STAR) >= 0) {
      throw wrong(number, "a URL or a path, with /* at its end only behind such a path");
    }
    Map<AsciiString, Moved> into = isPrefix ? prefixes : paths;
    if (into.put(new AsciiString(from), new Moved(to, Integer.parseInt(status))) != null) {
      throw wrong(number, from + " only once");
    }
    if (paths.size() + prefixes.size() > MOST_LINES) {
      throw wrong(number, "at most " + MOST_LINES + " redirects");
    }
  }

  private static boolean isPath(String from) {
    return from.startsWith("/")
        && from.chars().allMatch(c -> c > ' ' && c <= '~' && c != '?' && c != '#' && c != STAR)
        && NormalPath.isNormal(from);
  }

  private static IOException wrong(int number, String expected) {
    return new IOException("line " + number + ", expected " + expected);
  }

  int size() {
    return paths.size() + prefixes.size();
  }

  /** Where a request is sent; null if its path has not moved. The longest prefix wins. */
  @Nullable Moved find(RequestHead request) {
    byte[] path = path(request);
    Moved moved = paths.get(new AsciiString(path, false));
    for (int i = lengths.length - 1; i >= 0 && moved == null; i--) {
      int length = lengths[i];
      if (length <= path.length && path[length - 1] == '/') {
        moved = prefixes.get(new AsciiString(path, 0, length, false));
        if (moved != null && moved.to().indexOf(STAR) >= 0) {
          String rest = new String(NormalPath.encoded(path, length), StandardCharsets.US_ASCII);
          moved = new Moved(moved.to().replace("*", rest), moved.status());
        }
      }
    }
    String uri = moved == null ? "" : request.pathAndQuery();
    int query = moved == null || moved.to().indexOf('?') >= 0 ? -1 : uri.indexOf('?');
    return moved == null || query < 0
        ? moved
        : new Moved(moved.to() + uri.substring(query), moved.status());
  }

  private static byte[] path(RequestHead request) {
    return NormalPath.of(request.octets(), request.pathStart(), request.pathEnd());
  }
}
