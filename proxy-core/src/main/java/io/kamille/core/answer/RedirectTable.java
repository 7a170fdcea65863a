package io.kamille.core.answer;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.NormalPath;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.route.Route;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SmallFile;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where paths have moved, by the lines {@code FROM,TO[,STATUS]} of a file. Immutable; any thread.
 */
public final class RedirectTable {

  /*
   * A path costs one look-up, and one for each length that a prefix in the file has. Octets are
   * compared, so that a request that has not moved makes no text.
   *
   * A wrong line is named and never shown: a text that somebody validates may name any file.
   */
  private static final int MOST_OCTETS = 16 << 20;
  private static final int MOST_LINES = 100_000;
  private static final String LINE =
      "FROM,TO or FROM,TO,STATUS: a path in normal form, once, perhaps with /* at its end; a URL or"
          + " another path, with /* only behind such a path; and 301, 302, 303, 307 or 308";

  /** So many may follow each other: clients give up then. */
  private static final int MOST_HOPS = 20;

  private static final String END = "an end after at most " + MOST_HOPS;

  static final RedirectTable EMPTY = new RedirectTable();

  private final Map<AsciiString, Redirect> paths = new HashMap<>();
  private final Map<AsciiString, Redirect> prefixes = new HashMap<>();
  private int[] lengths = {};

  private RedirectTable() {}

  /**
   * Reads a file; blocks.
   *
   * @param problems takes the lines that are wrong: the table is of use if there are none
   * @throws IOException if it cannot be read, or has too much
   */
  public static RedirectTable read(Path file, Problems problems) throws IOException {
    return parse(file, content(file), problems);
  }

  static byte[] content(Path file) throws IOException {
    return SmallFile.read(file, MOST_OCTETS);
  }

  static RedirectTable parse(Path file, byte[] content, Problems problems) throws IOException {
    var table = new RedirectTable();
    List<String> lines = SmallFile.text(content).lines().toList();
    Map<Position, String> starts = new LinkedHashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      Position position = new Position(i + 1, 1, file.toString());
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      if (table.add(line)) {
        starts.put(position, line.substring(0, line.indexOf(',')).strip().replace("*", "~"));
      } else {
        problems.add(Problem.Mistake.CONFLICT, position, "", "a wrong line", LINE);
      }
    }
    if (table.size() > MOST_LINES) {
      throw new IOException("it has more than " + MOST_LINES + " redirects");
    }
    table.lengths =
        table.prefixes.keySet().stream()
            .mapToInt(AsciiString::length)
            .distinct()
            .sorted()
            .toArray();
    starts.forEach(
        (position, start) -> {
          if (table.isEndless(start)) {
            problems.add(Problem.Mistake.CONFLICT, position, "", "a loop of redirects", END);
          }
        });
    return table;
  }

  /** Takes a line in; answers whether it is right. */
  private boolean add(String line) {
    String[] parts = line.split(" *, *", -1);
    Integer status = Redirect.STATUS.parse(parts.length == 3 ? parts[2] : "308");
    if (parts.length < 2 || parts.length > 3 || status == null) {
      return false;
    }
    boolean isPrefix = parts[0].endsWith("/*");
    String from = isPrefix ? withoutStar(parts[0]) : parts[0];
    String to = isPrefix && parts[1].endsWith("/*") ? withoutStar(parts[1]) : parts[1];
    return Route.isPathPrefix(from)
        && from.indexOf('*') < 0
        && Redirect.isTarget(to)
        && to.indexOf('{') < 0
        && to.indexOf('*') < 0
        && !to.equals(from)
        && (isPrefix ? prefixes : paths)
                .putIfAbsent(new AsciiString(from), new Redirect(parts[1], status))
            == null;
  }

  /** Whether who follows the redirects of a path comes to no end. */
  private boolean isEndless(String start) {
    String path = start;
    for (int hops = 0; hops <= MOST_HOPS; hops++) {
      ResponseHead moved = answer(RequestHead.of("GET", "http://h" + path));
      String to = moved == null ? "" : String.valueOf(moved.fields().first(FieldName.LOCATION));
      if (!to.startsWith("/")) {
        return false;
      }
      path = to.split("[?#]", 2)[0];
    }
    return true;
  }

  private static String withoutStar(String path) {
    return path.substring(0, path.length() - 1);
  }

  int size() {
    return paths.size() + prefixes.size();
  }

  /** The redirect of a request; null if its path has not moved. The longest prefix wins. */
  public @Nullable ResponseHead answer(RequestHead request) {
    byte[] path = NormalPath.of(request.octets(), request.pathStart(), request.pathEnd());
    Redirect moved = paths.get(new AsciiString(path, false));
    int length = path.length;
    for (int i = lengths.length - 1; i >= 0 && moved == null; i--) {
      length = lengths[i];
      if (length <= path.length && path[length - 1] == '/') {
        moved = prefixes.get(new AsciiString(path, 0, length, false));
      }
    }
    if (moved == null) {
      return null;
    }
    String rest = new String(NormalPath.encoded(path, length), StandardCharsets.US_ASCII);
    String to = String.valueOf(moved.to()).replace("*", rest);
    String uri = request.pathAndQuery();
    int query = to.indexOf('?') < 0 ? uri.indexOf('?') : -1;
    return ResponseHead.of(moved.status(), "Location", query < 0 ? to : to + uri.substring(query));
  }
}
