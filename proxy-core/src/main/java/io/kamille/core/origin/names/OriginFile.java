package io.kamille.core.origin.names;

import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.setting.ConfigNode;
import io.kamille.core.setting.ConfigReader;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.SmallFile;
import io.kamille.core.setting.SmallFile.Opener;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.WatchedFiles;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The origins that a file of YAML names. */
public final class OriginFile extends OriginList {

  /*
   * A file that is not right as a whole changes nothing: half of a list would send all requests to
   * half of the origins.
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

  private final OriginProtocol protocol;
  private final WatchedFiles watched;
  private final WatchedFiles.Reading<byte[]> reading;

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
  OriginFile(String upstream, Path path, OriginProtocol protocol, Opener opener) {
    super(NamedBy.FILE, path.toString(), upstream, List.of());
    this.protocol = protocol;
    this.watched = new WatchedFiles(List.of(path));
    this.reading = () -> SmallFile.read(path, LIMIT_BYTES, opener);
  }

  /** All that is wrong with such a file now; none if nothing is. */
  public static List<Problem> problems(Path file, OriginProtocol protocol) {
    var found = new Problems(file.toString());
    new OriginFile("", file, protocol).read(found);
    return found.inOrder();
  }

  @Override
  public void refresh(long nowNanos) {
    var found = new Problems(place());
    List<OriginSettings> read = read(found);
    if (read == null) {
      return;
    }
    List<String> lines = found.inOrder().stream().map(Problem::toString).toList();
    if (lines.isEmpty()) {
      origins = read;
      LOG.log(Level.INFO, "origins of {0} by {1}: {2}", upstream, place(), read.size());
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

  /** What it names now; null if that has not changed. */
  private @Nullable List<OriginSettings> read(Problems found) {
    byte[] content;
    try {
      content = watched.poll(reading);
    } catch (IOException unreadable) {
      found.addUnreadable(unreadable);
      return List.of();
    }
    if (content == null) {
      return null;
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
    found.add(Problem.Mistake.CONFLICT, at, "", what, expected);
  }
}
