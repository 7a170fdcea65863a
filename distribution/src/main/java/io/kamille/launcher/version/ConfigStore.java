package io.kamille.launcher.version;

import io.kamille.core.setting.DurableFile;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** The last versions of the configuration, in a directory. Confined to its control. */
final class ConfigStore {

  /*
   * A version is one file, N.yaml: a comment line with what is known of it as JSON, then the text as
   * it came. It is written beside its place, forced to the disk and renamed, so a kill at any moment
   * leaves it whole or not there. A file that cannot be read is no version; its number is not used
   * again.
   *
   * A start leaves the JSON as it is: what reads it has a tenth of all classes.
   */
  static final int KEPT = 100;

  /** Who puts in force what the file says. */
  static final String FILE = "file";

  private static final String MARK = "# kamille version ";
  private static final Pattern NAME = Pattern.compile("([1-9][0-9]{0,8})\\.yaml");

  private final Path directory;
  private final TreeMap<Integer, String> known = new TreeMap<>();
  private int last;

  /** The versions in that directory, which is made with the first one. */
  ConfigStore(Path directory) throws IOException {
    this.directory = directory;
    if (Files.isDirectory(directory)) {
      try (Stream<Path> files = Files.list(directory)) {
        for (Path file : files.toList()) {
          found(file);
        }
      }
    }
  }

  private void found(Path file) throws IOException {
    Matcher name = NAME.matcher(String.valueOf(file.getFileName()));
    if (!name.matches()) {
      return;
    }
    int number = Integer.parseInt(name.group(1));
    last = Math.max(last, number);
    String content;
    try {
      content = Files.readString(file);
    } catch (CharacterCodingException spoilt) {
      return;
    }
    int end = content.indexOf('\n');
    if (!content.startsWith(MARK) || end < 0) {
      return;
    }
    known.put(number, content.substring(MARK.length(), end));
  }

  private static String line(ConfigVersion version) {
    boolean isOfStart = version.by().equals(FILE) && version.comment().isEmpty();
    return isOfStart
        ? String.format(
            Locale.ROOT,
            "{\"number\":%d,\"time\":\"%s\",\"by\":\"%s\",\"comment\":\"\",\"base\":%s}",
            version.number(),
            version.time(),
            FILE,
            version.base())
        : Json.MAPPER.writeValueAsString(version);
  }

  /** The number of the newest; null if there is none. */
  @Nullable Integer newest() {
    return known.isEmpty() ? null : known.lastKey();
  }

  /** All of them, the newest first. */
  List<ConfigVersion> all() {
    List<ConfigVersion> all = new ArrayList<>();
    for (String line : known.descendingMap().values()) {
      try {
        all.add(Json.MAPPER.readValue(line, ConfigVersion.class));
      } catch (JacksonException broken) {
        // Somebody else wrote it.
      }
    }
    return all;
  }

  /** The text of a version, or null if it is not kept. */
  @Nullable String text(int number) throws IOException {
    if (!known.containsKey(number)) {
      return null;
    }
    String content = Files.readString(file(number));
    return content.substring(content.indexOf('\n') + 1);
  }

  /** Keeps a text as the next version, and forgets the oldest ones beyond {@link #KEPT}. */
  ConfigVersion add(String text, Instant time, String by, String comment) throws IOException {
    var version = new ConfigVersion(last + 1, time, by, comment, newest());
    String line = line(version);
    String content = MARK + line + "\n" + text;
    DurableFile.replace(file(version.number()), content.getBytes(StandardCharsets.UTF_8));
    last = version.number();
    known.put(last, line);
    while (known.size() > KEPT) {
      Files.deleteIfExists(file(known.firstKey()));
      known.pollFirstEntry();
    }
    return version;
  }

  private Path file(int number) {
    return directory.resolve(number + ".yaml");
  }

  private static final class Json {

    static final JsonMapper MAPPER = JsonMapper.builder().build();
  }
}
