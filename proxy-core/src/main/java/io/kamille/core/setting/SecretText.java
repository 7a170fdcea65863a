package io.kamille.core.setting;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A text of which a part may stand in a file: {@code Bearer ${file:/run/secrets/token}}. It prints
 * as it is written, so that the secret stays out of versions, logs and the API. Immutable; any
 * thread.
 *
 * @param value with the content of the file
 * @param trouble why there is no value; null if there is one
 */
public record SecretText(String written, String value, @Nullable String trouble) {

  private static final Set<String> SECRETS =
      Set.of("authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token");

  private static final int MOST_OCTETS = 8 * 1024;
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{file:([^}]*)}");

  /** Files alone, after a scheme or the name of a cookie. */
  private static final Pattern FILES =
      Pattern.compile("(?:[\\w-]+[ =])?(?:" + REFERENCE.pattern() + ")+");

  /**
   * A text that passes a test, also with the content of its file. Whether that is so must be asked
   * of {@link #trouble}.
   *
   * @param expected what such a text is
   */
  public static ValueType<SecretText> type(
      String name, String expected, Predicate<String> isRight) {
    return new ValueType<>(
            name,
            "",
            expected,
            text -> isRight.test(text) ? of(text, Path.of(""), expected, isRight) : null,
            SecretText::written)
        .located((text, base) -> isRight.test(text) ? of(text, base, expected, isRight) : null);
  }

  /** Whether it may have the secret of a field of that name, or a part of it, as it stands. */
  public boolean isSecretOf(String field) {
    return SECRETS.contains(field.toLowerCase(Locale.ROOT)) && !FILES.matcher(written).matches();
  }

  private static SecretText of(String text, Path base, String expected, Predicate<String> isRight) {
    Matcher reference = REFERENCE.matcher(text);
    var value = new StringBuilder();
    while (reference.find()) {
      try {
        String content = content(base.resolve(reference.group(1)));
        if (!isRight.test(content)) {
          return new SecretText(text, "", "a file with " + expected);
        }
        reference.appendReplacement(value, Matcher.quoteReplacement(content));
      } catch (IOException unreadable) {
        String why = Problems.reason(unreadable);
        return new SecretText(text, "", "a file that can be read (" + why + ")");
      } catch (InvalidPathException wrong) {
        return new SecretText(text, "", "a file that can be read (" + wrong.getMessage() + ")");
      }
    }
    return new SecretText(text, reference.appendTail(value).toString(), null);
  }

  /** Without the end of its last line, which editors add. */
  private static String content(Path file) throws IOException {
    return SmallFile.text(file, MOST_OCTETS).replaceFirst("\\r?\\n\\z", "");
  }

  @Override
  public String toString() {
    return written;
  }
}
