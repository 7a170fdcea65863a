package io.kamille.launcher.version;

import io.kamille.core.setting.DurableFile;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
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
   */
  static final int KEPT = 100;

  private static final String MARK = "# kamille version ";
  private static final Pattern NAME = Pattern.compile("([1-9][0-9]{0,8})\\.yaml");

  /*
   * A start reads all of them, and needs nothing else of what reads JSON: that has a tenth of all
   * classes. So what has no escapes is read and written here.
   */
  private static final String TEXT = "([^\"\\\\\\p{Cntrl}]*)";
  private static final Pattern PLAIN =
      Pattern.compile(
          "\\{\"number\":(\\d{1,9}),\"time\":\"%s\",\"by\":\"%s\",\"comment\":\"%s\",\"base\":(null|\\d{1,9})\\}"
              .replace("%s", TEXT));

  private final Path directory;
  private final TreeMap<Integer, ConfigVersion> known = new TreeMap<>();
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
    try {
      known.put(number, version(content.substring(MARK.length(), end)));
    } catch (JacksonException | DateTimeParseException broken) {
      // Somebody else wrote it.
    }
  }

  private static ConfigVersion version(String line) {
    Matcher plain = PLAIN.matcher(line);
    if (!plain.matches()) {
      return Json.MAPPER.readValue(line, ConfigVersion.class);
    }
    String base = plain.group(5);
    return new ConfigVersion(
        Integer.parseInt(plain.group(1)),
        Instant.parse(plain.group(2)),
        plain.group(3),
        plain.group(4),
        base.equals("null") ? null : Integer.valueOf(base));
  }

  private static String line(ConfigVersion version) {
    String plain =
        "{\"number\":"
            + version.number()
            + ",\"time\":\""
            + version.time()
            + "\",\"by\":\""
            + version.by()
            + "\",\"comment\":\""
            + version.comment()
            + "\",\"base\":"
            + version.base()
            + "}";
    return PLAIN.matcher(plain).matches() ? plain : Json.MAPPER.writeValueAsString(version);
  }

  /** The newest; null if there is none. */
  @Nullable ConfigVersion newest() {
    return known.isEmpty() ? null : known.lastEntry().getValue();
  }

  /** All of them, the newest first. */
  List<ConfigVersion> all() {
    return List.copyOf(known.descendingMap().values());
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
    ConfigVersion before = newest();
    var version =
        new ConfigVersion(last + 1, time, by, comment, before == null ? null : before.number());
    String content = MARK + line(version) + "\n" + text;
    DurableFile.replace(file(version.number()), content.getBytes(StandardCharsets.UTF_8));
    last = version.number();
    known.put(last, version);
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
