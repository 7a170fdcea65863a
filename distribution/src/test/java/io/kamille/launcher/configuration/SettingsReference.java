package io.kamille.launcher.configuration;

import io.kamille.core.setting.Member;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.launcher.chain.StationNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The reference page of all settings, written from their declarations. */
public final class SettingsReference {

  private static final String HEAD =
      """
      # Settings

      <!-- Generated from the declarations in the code. Do not edit. -->

      Everything `kamille.yaml` may say. A setting that is not given has its default; a key that is
      not on this page is refused, with the line and column where it stands. `kamille check` shows
      every problem at once.

      - **size**: `64KiB`, `8GiB` (powers of 1024), `1MB` (powers of 1000), or plain bytes.
      - **duration**: `250ms`, `30s`, `5m`, `1h`, `7d`.
      - **address**: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `:8080` for all interfaces.
      - **on or off**: `true`, `false`, `yes` and `no` are understood as well.
      - `[]` stands for each element of a list, `*` for a name of your choice.

      Some changes apply when the configuration is loaded again (`SIGHUP`), some wait for the next
      start.

      """;

  private static final String STATIONS =
      """

      ## Stations of a route

      A route has those of these stations that its settings ask for, in this order. Their classes
      lie in `launcher.chain`. [Status codes](status-codes.md) says what else Kamille refuses.

      """;

  private final StringBuilder page = new StringBuilder(HEAD);

  private SettingsReference() {}

  /**
   * Writes the page.
   *
   * @param arguments the file to write
   */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 1) {
      throw new IllegalArgumentException("expected: one argument, the file to write");
    }
    Files.writeString(Path.of(arguments[0]), render());
  }

  /** The page as Markdown. */
  public static String render() {
    var reference = new SettingsReference();
    reference.page.append("| Setting | Type | Default | Applies on |\n|---|---|---|---|\n");
    reference.overview("", Configuration.file());
    reference.describe("", Configuration.file(), 2);
    reference.page.append(STATIONS).append(StationNames.table());
    return reference.page.toString();
  }

  /** The names of all settings, in the order of the page. */
  public static List<String> names() {
    return names("", Configuration.file());
  }

  private static List<String> names(String prefix, Section<?> section) {
    List<String> names = new ArrayList<>();
    for (Member member : section.members()) {
      switch (member) {
        case Setting<?> setting -> names.add(prefix + setting.key());
        case Subsection<?> child -> names.addAll(names(prefix + inside(child), child.section()));
      }
    }
    return names;
  }

  private void overview(String prefix, Section<?> section) {
    for (Member member : section.members()) {
      switch (member) {
        case Setting<?> setting -> overviewRow(prefix, setting);
        case Subsection<?> child -> overview(prefix + inside(child), child.section());
      }
    }
  }

  private void overviewRow(String prefix, Setting<?> setting) {
    String name = "`" + prefix + setting.key() + "`";
    page.append("| ")
        .append(String.join(" | ", name, setting.type().name(), absence(setting), applies(setting)))
        .append(" |\n");
  }

  /** What the names of the members of a section begin with. */
  private static String inside(Subsection<?> section) {
    return switch (section.shape()) {
      case ONE -> section.key() + ".";
      case LIST, SOME -> section.key() + "[].";
      case NAMED -> section.key() + ".*.";
    };
  }

  private void describe(String prefix, Section<?> section, int level) {
    for (Member member : section.members()) {
      page.append('\n').repeat("#", level).append(" `").append(prefix + member.key());
      page.append("`\n\n");
      switch (member) {
        case Setting<?> setting -> describe(setting);
        case Subsection<?> child -> {
          page.append(child.description()).append('\n');
          if (child.required() != null) {
            page.append("There must be ").append(child.required());
            child.alternatives().forEach(key -> page.append(" or `").append(key).append('`'));
            page.append(".\n");
          }
          describe(prefix + inside(child), child.section(), level + 1);
        }
      }
    }
  }

  private void describe(Setting<?> setting) {
    page.append(setting.type().name())
        .append(setting.type().bounds().isEmpty() ? "" : " (" + setting.type().bounds() + ")")
        .append(" · default: ")
        .append(absence(setting))
        .append(" · applies on ")
        .append(applies(setting))
        .append("\n\n")
        .append(setting.description())
        .append('\n');
  }

  private static String absence(Setting<?> setting) {
    return setting.ifAbsent() == null ? "none, it must be given" : setting.ifAbsent();
  }

  private static String applies(Setting<?> setting) {
    return setting.needsRestart() ? "restart" : "reload";
  }
}
