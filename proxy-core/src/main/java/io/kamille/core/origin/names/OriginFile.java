package io.kamille.core.origin.names;

import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.setting.ByteSize;
import io.kamille.core.setting.ConfigNode;
import io.kamille.core.setting.ConfigReader;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Subsection;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The origins that a file of YAML names. */
public final class OriginFile extends WatchedOrigins {

  /*
   * A look costs one stat() while time, size and inode stay the same. They are taken before the
   * file is read: a change while it is read shows at the next look. A file that cannot be read is
   * read again at the next look: neither its owner nor our free descriptors show in a stamp. One
   * that is not right as a whole changes nothing: half of a list would send all requests to half of
   * the origins.
   */
  static final int LIMIT_BYTES = 256 << 10;
  static final int MOST_ORIGINS = 1_000;

  /** Of many problems the log has the first ones. */
  private static final int LOGGED = 5;

  private record Content(List<OriginSettings> origins) {}

  private static final Subsection<OriginSettings> ORIGINS =
      OriginSettings.SECTION
          .list("origins", "The origin servers.")
          .withShorthand(OriginSettings.URL)
          .atLeastOne("at least one origin");

  private static final Section<Content> SECTION = Section.of(Content.class, ORIGINS);

  /** Opens files to read them. */
  @FunctionalInterface
  interface Opener {
    InputStream open(Path file) throws IOException;
  }

  /** By what a change shows. */
  private record Stamp(@Nullable FileTime time, long size, @Nullable Object inode) {

    static Stamp of(Path file) {
      try {
        var found = Files.readAttributes(file, BasicFileAttributes.class);
        return new Stamp(found.lastModifiedTime(), found.size(), found.fileKey());
      } catch (IOException gone) {
        return new Stamp(null, 0, null);
      }
    }
  }

  private final Path file;
  private final Opener opener;
  private @Nullable Stamp seen;

  /**
   * Names none before the first look.
   *
   * @param upstream its name, for the log
   * @param protocol in which they are asked
   */
  public OriginFile(String upstream, Path file, OriginProtocol protocol) {
    this(upstream, file, protocol, Files::newInputStream);
  }

  /** The same, opened in another way. */
  OriginFile(String upstream, Path file, OriginProtocol protocol, Opener opener) {
    super(Kind.FILE, file.toString(), upstream, protocol);
    this.file = file;
    this.opener = opener;
  }

  /** All that is wrong with such a file now; none if nothing is. */
  public static List<Problem> problems(Path file, OriginProtocol protocol) {
    var found = new Problems(file.toString());
    new OriginFile("", file, protocol).read(found);
    return found.inOrder();
  }

  @Override
  public void look(long nowNanos) {
    Stamp now = Stamp.of(file);
    if (!now.equals(seen)) {
      seen = now;
      read();
    }
  }

  private void read() {
    var found = new Problems(file.toString());
    List<OriginSettings> read = read(found);
    List<String> lines = found.inOrder().stream().map(Problem::toString).toList();
    if (lines.isEmpty()) {
      origins = read;
      LOG.log(Level.INFO, "origins of {0} by {1}: {2}", upstream, file, read.size());
    } else if (!lines.equals(problems)) {
      String said = "{0} keeps the {1} origins that its file named last: {2}";
      LOG.log(Level.ERROR, said, upstream, origins.size(), shortened(lines));
    }
    problems = lines;
  }

  private static String shortened(List<String> lines) {
    String first = String.join("; ", lines.subList(0, Math.min(lines.size(), LOGGED)));
    return lines.size() > LOGGED ? first + "; and " + (lines.size() - LOGGED) + " more" : first;
  }

  private List<OriginSettings> read(Problems found) {
    byte[] content;
    try {
      // Who opens a pipe waits until somebody writes to it.
      if (!Files.readAttributes(file, BasicFileAttributes.class).isRegularFile()) {
        throw new IOException("it is no regular file");
      }
      try (InputStream in = opener.open(file)) {
        content = in.readNBytes(LIMIT_BYTES + 1);
      }
    } catch (IOException unreadable) {
      seen = null;
      found.addUnreadable(unreadable);
      return List.of();
    }
    if (content.length > LIMIT_BYTES) {
      refuse(found, Position.NOWHERE, "more than " + ByteSize.print(LIMIT_BYTES), "less");
      return List.of();
    }
    ConfigNode root = ConfigTree.parse(content, found);
    if (root == null) {
      return List.of();
    }
    SectionValues values = ConfigReader.read(root, SECTION, found);
    check(values.all(ORIGINS), found);
    return found.isEmpty() ? SECTION.record(values).origins() : List.of();
  }

  private void check(List<SectionValues> all, Problems found) {
    if (all.size() > MOST_ORIGINS) {
      String most = "at most " + MOST_ORIGINS;
      refuse(found, all.get(MOST_ORIGINS).position(), all.size() + " origins", most);
      return;
    }
    Map<OriginUrl, Position> first = new HashMap<>();
    for (SectionValues origin : all) {
      OriginUrl url = origin.find(OriginSettings.URL);
      if (url == null) {
        continue;
      }
      Position at = origin.position(OriginSettings.URL);
      Position other = first.putIfAbsent(url, at);
      if (other != null) {
        refuse(
            found, at, url + " a second time", "it only once (first in line " + other.line() + ")");
      }
      if (!protocol.suits(url)) {
        refuse(found, at, url.toString(), protocol.expected());
      }
    }
  }

  private static void refuse(Problems found, Position at, String what, String expected) {
    found.add(Problem.Kind.CONFLICT, at, "", what, expected);
  }
}
