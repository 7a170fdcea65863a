package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a response may be purged by. */
class TagsTest {

  private static final RequestHead REQUEST = RequestHead.of("GET", "http://example.org/");

  private static Tags of(String... fields) {
    return Tags.of(REQUEST, Fields.of(fields));
  }

  private static String many(int count) {
    return IntStream.range(0, count).mapToObj(i -> "t" + i).collect(Collectors.joining(" "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Surrogate-Key | a b",
        "Surrogate-Key | '  a   b '",
        "Surrogate-Key | 'a, b'",
        "Cache-Tag | 'a,b'",
        "Cache-Tag | ' a , b '",
        "Cache-Tag | ',a,,b,'",
      })
  void tagsAreSeparatedAsTheirFieldSays(String name, String value) {
    assertThat(of(name, value)).isEqualTo(Tags.named(List.of("a", "b")));
  }

  @Test
  void aCacheTagMayHaveSpacesInside() {
    assertThat(of("Cache-Tag", "red shoes , a")).isEqualTo(Tags.named(List.of("red shoes", "a")));
  }

  @Test
  void aTagThatIsSaidTwiceCountsOnce() {
    assertThat(of("Surrogate-Key", "a a", "Cache-Tag", "a").size()).isEqualTo(1);
    assertThat(of("Surrogate-Key", "a ".repeat(5_000)).areAny()).isFalse();
  }

  @Test
  void beyondTheLimitTheyStandForAny() {
    assertThat(of("Surrogate-Key", many(Tags.LIMIT)).size()).isEqualTo(Tags.LIMIT);
    assertThat(of("Surrogate-Key", many(Tags.LIMIT + 1)).areAny()).isTrue();
    assertThat(of("Surrogate-Key", many(Tags.LIMIT), "Cache-Tag", "x").size()).isEqualTo(1);
    assertThat(of("Surrogate-Key", many(Tags.LIMIT), "Cache-Groups", "\"g\"").areAny()).isFalse();
  }

  @Test
  void aTagThatIsTooLongIsTooMuch() {
    assertThat(of("Cache-Tag", "x".repeat(Tags.LENGTH_LIMIT)).areAny()).isFalse();
    assertThat(of("Cache-Tag", "x".repeat(Tags.LENGTH_LIMIT + 1)).areAny()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {",", " \t,"})
  void aLongRunOfBlanksIsReadOnce(String separators) {
    var text = new WatchedText("a," + "\t".repeat(60_000) + ",b");
    Set<String> tags = new LinkedHashSet<>();
    Tags.split(text, separators, tags);
    assertThat(tags).containsExactly("a", "b");
    assertThat(text.looks()).isLessThanOrEqualTo(2L * text.length());
    assertThat(of("Cache-Tag", "a" + "\t".repeat(60_000) + "b").areAny()).isTrue();
  }

  /** Counts how many of its octets are looked at or handed on, each time anew. */
  private static final class WatchedText implements CharSequence {

    private final String text;
    private long looks;

    WatchedText(String text) {
      this.text = text;
    }

    long looks() {
      return looks;
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      looks++;
      return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      looks += end - start;
      return text.substring(start, end);
    }

    @Override
    public String toString() {
      looks += text.length();
      return text;
    }
  }

  @Test
  void groupsBelongToTheirOrigin() {
    Fields fields = Fields.of("Cache-Groups", "\"a\"");
    assertThat(Tags.of(REQUEST, fields))
        .isNotEqualTo(Tags.of(RequestHead.of("GET", "http://example.net/"), fields))
        .isNotEqualTo(Tags.named(List.of("a")))
        .isEqualTo(Tags.of(RequestHead.of("GET", "http://EXAMPLE.org:80/b"), fields));
  }

  @Test
  void anUpdateReplacesWhatItNames() {
    Tags both = of("Surrogate-Key", "a", "Cache-Groups", "\"g\"");
    assertThat(both.updated(REQUEST, Fields.of("Surrogate-Key", "b")))
        .isEqualTo(of("Cache-Groups", "\"g\"").updated(REQUEST, Fields.of("Surrogate-Key", "b")));
    assertThat(both.updated(REQUEST, Fields.of("Date", "x"))).isEqualTo(both);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "xkey; a b,c; 'a,b,c'",
        "Page-Tags; node:1 node_list; 'node:1,node_list'",
        "page-tags; 'node:1, node list'; 'node:1, node list'",
        "X-Cache-Tags; a b; a b",
        "X-Magento-Tags; a b; a b",
      })
  void blanksSeparateWhereThePageSaysSo(String name, String line, String tags) {
    TagFields fields =
        new TagFields(List.of("xkey", "Page-Tags", "x-cache-tags", "X-Magento-Tags"));
    Fields response = ResponseHead.of(200, name, line).fields();
    fields.gather(response);
    assertThat(response.first(FieldName.CACHE_TAG)).isEqualTo(tags);
    assertThat(response.all(name)).isEmpty();
  }
}
