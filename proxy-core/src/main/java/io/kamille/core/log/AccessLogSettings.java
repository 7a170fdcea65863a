package io.kamille.core.log;

import io.kamille.core.gate.AddressMask;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How the access log is written, one line per exchange: {@code log.access}. Immutable.
 *
 * @param isEnabled whether it is written at all
 * @param output the file that is appended to, or empty for standard output
 * @param format how one line looks
 * @param fields what a line has
 * @param client how its address is written
 */
public record AccessLogSettings(
    boolean isEnabled,
    Optional<Path> output,
    Format format,
    LineFields fields,
    AddressMask client) {

  private static final Pattern REMOVABLE =
      Pattern.compile("client|target|authority|referer|user-agent|route|origin|reason");

  /**
   * What lines have more and less than usual.
   *
   * @param add in the order of the lines
   * @param remove by their words
   */
  public record LineFields(List<LoggedField> add, List<String> remove) {

    static final Section<LineFields> SECTION =
        Section.of(
            LineFields.class,
            Setting.of(
                    "add",
                    LoggedField.LIST,
                    "Values added to each line: `request-field:NAME`, `response-field:NAME`,"
                        + " `request-id`, `trace-id`, `origin`, `origin-time` and `tls-version`."
                        + " `Authorization`, `Proxy-Authorization`, `Cookie` and `Set-Cookie` are"
                        + " written as a digest.")
                .defaultsTo(List.of())
                .appliesOnRestart(),
            Setting.of(
                    "remove",
                    ValueTypes.list(
                        "list of values",
                        text -> REMOVABLE.matcher(text).matches(),
                        "one of client, target, authority, referer, user-agent, route, origin,"
                            + " reason"),
                    "What each line lacks: `client`, `target`, `authority`, `referer`,"
                        + " `user-agent`, `route`, `origin` or `reason`.")
                .defaultsTo(List.of())
                .appliesOnRestart());

    /** Whether lines have fields of responses. */
    boolean hasOfResponses() {
      return add.stream().anyMatch(field -> field.kind() == LoggedField.Source.RESPONSE_FIELD);
    }
  }

  /** How one line looks. */
  public enum Format {
    /** Apache's combined format; duration, cache result and failure behind it. */
    COMBINED,
    /** One JSON object. */
    JSON
  }

  public static final Setting<Optional<Path>> OUTPUT =
      Setting.of(
              "output",
              ValueTypes.orWord("stdout", ValueTypes.file()),
              "The file that the access log is appended to, or `stdout`.")
          .defaultsTo(Optional.empty())
          .appliesOnRestart();

  private static final Setting<Format> FORMAT =
      Setting.of(
              "format",
              ValueTypes.oneOf(Format.values()),
              "How a line is written: `combined` as most log readers know it, `json` as one"
                  + " object.")
          .defaultsTo(Format.COMBINED)
          .appliesOnRestart();

  public static final Section<AccessLogSettings> SECTION =
      Section.of(
          AccessLogSettings.class,
          Setting.of(
                  "enabled",
                  ValueTypes.onOff(),
                  "Whether each exchange is written to the access log. The configuration that ships"
                      + " with Kamille turns it on.")
              .defaultsTo(
                  "`on` if `output` or `format` is given, else `off`",
                  access -> access.isGiven(OUTPUT) || access.isGiven(FORMAT))
              .appliesOnRestart(),
          OUTPUT,
          FORMAT,
          LineFields.SECTION.one("fields", "Fields that are added to a line, and removed from it."),
          Setting.of(
                  "client",
                  ValueTypes.oneOf(AddressMask.values()),
                  "How the address of a client is written: `full`, or `masked` to its network, /24"
                      + " of IPv4 and /48 of IPv6.")
              .defaultsTo(AddressMask.FULL)
              .appliesOnRestart());
}
