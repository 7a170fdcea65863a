package io.kamille.launcher.version;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The last versions of the configuration, in a directory. Confined to its control. */
final class ConfigStore {

  static final int KEPT = 100;

  private final NumberedTexts<ConfigVersion> texts;

  private ConfigStore(NumberedTexts<ConfigVersion> texts) {
    this.texts = texts;
  }

  /** The versions in that directory, which is made with the first one. */
  static ConfigStore open(Path directory) throws IOException {
    return new ConfigStore(
        NumberedTexts.open(directory, "# kamille version ", ConfigVersion.class));
  }

  /** The newest; null if there is none. */
  @Nullable ConfigVersion newest() {
    Map.Entry<Integer, ConfigVersion> last = texts.known().lastEntry();
    return last == null ? null : last.getValue();
  }

  /** All of them, the newest first. */
  List<ConfigVersion> all() {
    return List.copyOf(texts.known().descendingMap().values());
  }

  /** The text of a version, or null if it is not kept. */
  @Nullable String text(int number) throws IOException {
    return texts.known().containsKey(number) ? texts.text(number) : null;
  }

  /** Keeps a text as the next version, and forgets the oldest ones beyond {@link #KEPT}. */
  ConfigVersion add(String text, Instant time, String by, String comment) throws IOException {
    ConfigVersion before = newest();
    var version =
        new ConfigVersion(texts.next(), time, by, comment, before == null ? null : before.number());
    texts.put(version.number(), version, text);
    while (texts.known().size() > KEPT) {
      texts.remove(texts.known().firstKey());
    }
    return version;
  }
}
