package io.kamille.core.setting;

import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The kinds of value that settings have. */
public final class ValueTypes {

  private static final Pattern WHOLE_NUMBER = Pattern.compile("[0-9]{1,9}");
  private static final Pattern RATIO = Pattern.compile("0|1|0?\\.[0-9]{1,9}|1\\.0{1,9}");
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}");

  private ValueTypes() {}

  /** {@code on} or {@code off}; {@code true}, {@code false}, {@code yes}, {@code no} as well. */
  public static ValueType<Boolean> onOff() {
    return new ValueType<>(
        "on or off",
        "",
        "on or off",
        text ->
            switch (text.toLowerCase(Locale.ROOT)) {
              case "on", "true", "yes" -> Boolean.TRUE;
              case "off", "false", "no" -> Boolean.FALSE;
              default -> null;
            },
        value -> value ? "on" : "off");
  }

  /** A whole number within both bounds. */
  public static ValueType<Integer> wholeNumber(int least, int greatest) {
    String bounds = least + "–" + greatest;
    return new ValueType<>(
        "whole number",
        bounds,
        "a whole number of " + bounds,
        text -> {
          if (!WHOLE_NUMBER.matcher(text).matches()) {
            return null;
          }
          int number = Integer.parseInt(text);
          return least <= number && number <= greatest ? number : null;
        },
        number -> Integer.toString(number));
  }

  /** Without an exponent, which no setting is written with. */
  private static String decimal(double number) {
    String text = Double.toString(number);
    return text.indexOf('E') < 0 ? text : new BigDecimal(text).stripTrailingZeros().toPlainString();
  }

  /** A share of a whole, written {@code 0.1}. */
  public static ValueType<Double> ratio() {
    return ratio("0–1", "a ratio of 0–1", ratio -> true);
  }

  /** A share of a whole that is not nothing, written {@code 0.1}. */
  public static ValueType<Double> positiveRatio() {
    return ratio("above 0, up to 1", "a ratio above 0 and up to 1", ratio -> ratio > 0);
  }

  private static ValueType<Double> ratio(
      String bounds, String expected, Predicate<Double> isRight) {
    return new ValueType<>(
        "ratio",
        bounds,
        expected + " such as 0.1",
        text -> {
          Double ratio = RATIO.matcher(text).matches() ? Double.valueOf(text) : null;
          return ratio != null && isRight.test(ratio) ? ratio : null;
        },
        ValueTypes::decimal);
  }

  /** A number of bytes ({@link ByteSize}) within both bounds. */
  public static ValueType<Long> size(long leastBytes, long greatestBytes) {
    String bounds = ByteSize.print(leastBytes) + "–" + ByteSize.print(greatestBytes);
    return new ValueType<>(
        "size",
        bounds,
        "a size of " + bounds + " in KiB, MiB, GiB or TiB",
        text -> {
          OptionalLong bytes = ByteSize.parse(text);
          return bytes.isPresent()
                  && leastBytes <= bytes.getAsLong()
                  && bytes.getAsLong() <= greatestBytes
              ? bytes.getAsLong()
              : null;
        },
        ByteSize::print);
  }

  /** The same, of at most 2 GiB. */
  public static ValueType<Integer> smallSize(int leastBytes, int greatestBytes) {
    return size(leastBytes, greatestBytes).map(Math::toIntExact, Integer::longValue);
  }

  /** A duration ({@link TimeSpan}) within both bounds. */
  public static ValueType<Duration> duration(Duration least, Duration greatest) {
    return duration(least, greatest, "such as 250ms, 30s, 5m or 1h", any -> true);
  }

  /** A duration of at least a millisecond and at most a day. */
  public static ValueType<Duration> timeout() {
    return duration(Duration.ofMillis(1), Duration.ofHours(24));
  }

  /** A duration of whole seconds within both bounds. */
  public static ValueType<Duration> wholeSeconds(Duration least, Duration greatest) {
    return duration(
        least,
        greatest,
        "in whole seconds such as 30s, 5m or 1h",
        duration -> duration.toNanosPart() == 0);
  }

  /** The same, as a number of seconds. */
  public static ValueType<Integer> seconds(Duration least, Duration greatest) {
    return wholeSeconds(least, greatest)
        .map(duration -> Math.toIntExact(duration.toSeconds()), Duration::ofSeconds);
  }

  private static ValueType<Duration> duration(
      Duration least, Duration greatest, String hint, Predicate<Duration> isRight) {
    String bounds = TimeSpan.print(least) + "–" + TimeSpan.print(greatest);
    return new ValueType<>(
        "duration",
        bounds,
        "a duration of " + bounds + " " + hint,
        text -> {
          Duration duration = TimeSpan.parse(text);
          return duration != null
                  && duration.compareTo(least) >= 0
                  && duration.compareTo(greatest) <= 0
                  && isRight.test(duration)
              ? duration
              : null;
        },
        TimeSpan::print);
  }

  /** An address to listen on ({@link HostPort}). */
  public static ValueType<HostPort> address() {
    return new ValueType<>(
        "address", "", "HOST:PORT with a port of 1–65535", HostPort::parse, HostPort::toString);
  }

  /** The URL of an origin server ({@link OriginUrl}). */
  public static ValueType<OriginUrl> origin() {
    return new ValueType<>(
        "origin URL",
        "",
        "http://HOST[:PORT] or https://HOST[:PORT] with nothing behind it",
        OriginUrl::parse,
        OriginUrl::toString);
  }

  /** One of the constants, written in lower case with dashes. */
  public static <E extends Enum<E>> ValueType<E> oneOf(E[] constants) {
    return oneOf(Stream.of(constants).map(each -> Map.entry(word(each), each)).toList());
  }

  /** One of these words, in their order, for the value beside it. */
  public static <T> ValueType<T> oneOf(List<Map.Entry<String, T>> words) {
    String all = words.stream().map(Map.Entry::getKey).collect(Collectors.joining(", "));
    return new ValueType<>(
        "word",
        all,
        "one of " + all,
        text ->
            words.stream()
                .filter(word -> word.getKey().equals(text))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(null),
        value ->
            words.stream()
                .filter(word -> word.getValue().equals(value))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseThrow());
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * A text that passes a test.
   *
   * @param expected what such a text is
   */
  public static ValueType<String> text(String name, String expected, Predicate<String> isRight) {
    return new ValueType<>(
        name, "", expected, text -> isRight.test(text) ? text : null, text -> text);
  }

  /** The name of an upstream; whether there is one is asked later. */
  public static ValueType<String> upstream() {
    return text("name of an upstream", "the name of an upstream", text -> !text.isEmpty());
  }

  /** A host with or without port, as a Host field has it. */
  public static ValueType<String> authority() {
    return text("host with or without port", "HOST[:PORT]", HostPort::isAuthority);
  }

  /** A token (RFC 9110 §5.6.2) of at most 64 characters. */
  public static ValueType<String> token() {
    return text(
        "token", "a name of letters, digits and -_.", text -> TOKEN.matcher(text).matches());
  }

  /** A list of field names (RFC 9110 §5.1), in their order and as they are written. */
  public static ValueType<List<String>> fieldNames() {
    return list(
        "list of field names",
        name -> TOKEN.matcher(name).matches(),
        "a field name of letters, digits and -_.");
  }

  /**
   * A list of texts, in their order and as they are written.
   *
   * @param isItem whether a text may stand in it; none with a comma may
   * @param expected what such a text is
   */
  public static ValueType<List<String>> list(
      String name, Predicate<String> isItem, String expected) {
    return list(name, text -> isItem.test(text) ? text : null, text -> text, expected);
  }

  /**
   * A list of values, each written as one text without a comma.
   *
   * @param parser gives null for what is none
   * @param expected what each of them is
   */
  public static <T> ValueType<List<T>> list(
      String name,
      Function<String, @Nullable T> parser,
      Function<T, String> printer,
      String expected) {
    return new ValueType<>(
        name,
        "",
        expected,
        true,
        text -> {
          List<T> items = new ArrayList<>();
          for (String item : text.isEmpty() ? new String[0] : text.split(", *", -1)) {
            T value = parser.apply(item);
            if (value == null) {
              return null;
            }
            items.add(value);
          }
          return List.copyOf(items);
        },
        items -> items.stream().map(printer).collect(Collectors.joining(", ")));
  }

  /** The path of a file. */
  public static ValueType<Path> file() {
    return new ValueType<>("file", "", "the path of a file", ValueTypes::pathOf, Path::toString)
        .located(ValueTypes::located);
  }

  /** The path of a file as seen from a directory; null if the text is no path. */
  public static @Nullable Path located(String text, Path directory) {
    Path path = pathOf(text);
    return path == null ? null : directory.resolve(path);
  }

  private static @Nullable Path pathOf(String text) {
    try {
      return text.isEmpty() ? null : Path.of(text);
    } catch (InvalidPathException e) {
      return null;
    }
  }

  /** A value of {@code type}, or {@code word} for none. */
  public static <T> ValueType<Optional<T>> orWord(String word, ValueType<T> type) {
    return orWord(word, Optional.empty(), type.map(Optional::of, Optional::orElseThrow));
  }

  /** A value of {@code type}, or {@code word} for {@code meant}. */
  public static <T> ValueType<T> orWord(String word, T meant, ValueType<T> type) {
    return new ValueType<>(
            type.name() + " or `" + word + "`",
            type.bounds(),
            type.expected() + ", or " + word,
            text -> text.equals(word) ? meant : type.parse(text),
            value -> value.equals(meant) ? word : type.print(value))
        .located((text, base) -> text.equals(word) ? meant : type.located().apply(text, base));
  }
}
