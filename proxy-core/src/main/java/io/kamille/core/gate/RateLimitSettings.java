package io.kamille.core.gate;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How often clients may use a route.
 *
 * @param rate in the long run
 * @param burst how many requests may come at once after a time without, at least one
 * @param key whose requests are counted together
 * @param isDryRun whether it only counts what it would refuse
 */
public record RateLimitSettings(Rate rate, int burst, Key key, boolean isDryRun) {

  /**
   * So many requests in a second, minute or hour.
   *
   * @param requests at least one
   */
  public record Rate(int requests, TimeUnit unit) {

    private static final Pattern TEXT = Pattern.compile("([1-9][0-9]{0,8})/([smh])");

    static @Nullable Rate parse(String text) {
      Matcher match = TEXT.matcher(text);
      if (!match.matches()) {
        return null;
      }
      TimeUnit unit =
          switch (match.group(2)) {
            case "s" -> TimeUnit.SECONDS;
            case "m" -> TimeUnit.MINUTES;
            default -> TimeUnit.HOURS;
          };
      return new Rate(Integer.parseInt(match.group(1)), unit);
    }

    /** Between two requests. */
    public long intervalNanos() {
      return unit.toNanos(1) / requests;
    }

    @Override
    public String toString() {
      return switch (unit) {
        case MINUTES -> requests + "/m";
        case HOURS -> requests + "/h";
        default -> requests + "/s";
      };
    }
  }

  /**
   * Whose requests are counted together.
   *
   * @param name those with the same value of that field or cookie; null for those of one client
   *     address
   * @param isCookie whether it is a cookie
   */
  public record Key(@Nullable String name, boolean isCookie) {

    private static final Pattern TEXT =
        Pattern.compile("address|(field|cookie):([A-Za-z0-9!#$%&'*+.^_`|~-]{1,64})");

    static @Nullable Key parse(String text) {
      Matcher match = TEXT.matcher(text);
      return match.matches() ? new Key(match.group(2), text.startsWith("cookie")) : null;
    }

    @Override
    public String toString() {
      return name == null ? "address" : (isCookie ? "cookie:" : "field:") + name;
    }
  }

  public static final Setting<Rate> RATE =
      Setting.of(
          "rate",
          new ValueType<>(
              "rate",
              "",
              "a number of requests for a second, minute or hour such as 10/s, 100/m or 1000/h",
              Rate::parse,
              Rate::toString),
          "How many requests each client may make in the long run: `10/s`, `100/m`, `1000/h`."
              + " More are answered with 429, and `Retry-After` says when the next one will not"
              + " be.");

  public static final Section<RateLimitSettings> SECTION =
      Section.of(
          RateLimitSettings.class,
          RATE,
          Setting.of(
                  "burst",
                  ValueTypes.wholeNumber(1, 1_000_000),
                  "How many requests may come at once, after a time without.")
              .defaultsTo(
                  "what the rate allows in a second, at least 1", RateLimitSettings::defaultBurst),
          Setting.of(
                  "key",
                  new ValueType<>(
                      "`address`, `field:NAME` or `cookie:NAME`",
                      "",
                      "address, or field: or cookie: and a name",
                      Key::parse,
                      Key::toString),
                  "The identity of a client: its address (IPv6 by its /64), or the value of a"
                      + " request field or cookie, such as an API key. A request without it counts"
                      + " for its address. A client that makes up values gets a new limit with"
                      + " each. Unless something proves the value, set `limits.client.requests`,"
                      + " too: it counts by address. Of more than 65,536 keys at a time some are"
                      + " forgotten, which lets them have another burst.")
              .defaultsTo(new Key(null, false)),
          Setting.of(
                  "dry-run",
                  ValueTypes.onOff(),
                  "Whether requests over the rate are only counted and logged, and go on.")
              .defaultsTo(false));

  public RateLimitSettings {
    if (burst < 1) {
      throw new IllegalArgumentException("burst: " + burst + " (expected: 1 or more)");
    }
  }

  /** The limit in words. */
  public String describe() {
    return rate + " by " + key + ", burst " + burst + (isDryRun ? ", dry run" : "");
  }

  private static int defaultBurst(SectionValues values) {
    Rate rate = values.find(RATE);
    return rate == null
        ? 1
        : Math.clamp(TimeUnit.SECONDS.toNanos(1) / rate.intervalNanos(), 1, 1_000_000);
  }
}
