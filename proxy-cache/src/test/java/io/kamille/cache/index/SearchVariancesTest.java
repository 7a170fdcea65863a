package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.CacheKeyProbe;
import io.kamille.cache.key.SearchVariance;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Sections are those of draft-ietf-httpbis-no-vary-search. */
class SearchVariancesTest {

  private static final SearchVariance NO_PARAMS = variance("params");
  private static final SearchVariance NO_ORDER = variance("key-order");

  private final SearchVariances variances = new SearchVariances();

  private static SearchVariance variance(String text) {
    return SearchVariance.of(Fields.of("No-Vary-Search", text));
  }

  private static RequestHead get(String uri) {
    return RequestHead.of("GET", uri);
  }

  private CacheKey key(String uri) {
    return variances.keyOf(get(uri), new CacheKeyProbe());
  }

  @Test
  void cachingEquivalentQueriesOfAPathHaveOneKey() {
    variances.learn(get("http://example.org/a?x=1"), NO_PARAMS);
    assertThat(key("http://example.org/a?x=2"))
        .isEqualTo(key("http://example.org/a"))
        .isNotEqualTo(CacheKey.of(get("http://example.org/a")));
  }

  @Test
  void cachingWhatOnePathSaysHoldsForNoOther() {
    variances.learn(get("http://example.org/a?x=1"), NO_PARAMS);
    for (String other :
        new String[] {
          "http://example.org/b?x=1",
          "http://example.org/a/?x=1",
          "http://example.com/a?x=1",
          "http://example.org:81/a?x=1",
          "https://example.org/a?x=1",
        }) {
      assertThat(key(other)).isEqualTo(CacheKey.of(get(other)));
    }
    assertThat(key("http://EXAMPLE.org:80/a?y=2")).isEqualTo(key("http://example.org/a"));
  }

  @Test
  void cachingTheMostRecentResponseDecides() {
    RequestHead request = get("http://example.org/a?x=1");
    variances.learn(request, NO_PARAMS);
    variances.learn(request, NO_ORDER);
    assertThat(variances.find(request)).isEqualTo(NO_ORDER);
    assertThat(key("http://example.org/a?x=1")).isNotEqualTo(key("http://example.org/a?x=2"));
    variances.learn(request, SearchVariance.DEFAULT);
    assertThat(variances.find(request)).isNull();
  }

  @Test
  void whatWasStoredByAnEarlierWordIsNotMetWhenTheWordComesBack() {
    RequestHead request = get("http://example.org/a?x=1");
    variances.learn(request, NO_PARAMS);
    CacheKey before = key("http://example.org/a");
    variances.learn(request, NO_PARAMS);
    assertThat(key("http://example.org/a")).isEqualTo(before);
    variances.learn(request, NO_ORDER);
    variances.learn(request, NO_PARAMS);
    assertThat(key("http://example.org/a")).isNotEqualTo(before);
  }

  @Test
  void underAKeyBelongsOnlyWhatSaysTheSame() {
    RequestHead request = get("http://example.org/a?x=1");
    assertThat(variances.fits(CacheKey.of(request), request, NO_PARAMS)).isTrue();
    variances.learn(request, NO_PARAMS);
    CacheKey key = key("http://example.org/a");
    assertThat(variances.fits(key, request, NO_PARAMS)).isTrue();
    assertThat(variances.fits(key, request, NO_ORDER)).isFalse();
    assertThat(variances.fits(key, request, SearchVariance.DEFAULT)).isFalse();
    assertThat(variances.fits(CacheKey.of(request), request, NO_PARAMS)).isFalse();
    variances.learn(request, NO_ORDER);
    assertThat(variances.fits(key, request, NO_PARAMS)).isFalse();
    variances.learn(request, SearchVariance.DEFAULT);
    assertThat(variances.fits(key, request, SearchVariance.DEFAULT)).isFalse();
    assertThat(variances.fits(CacheKey.of(request), request, SearchVariance.DEFAULT)).isTrue();
  }

  @Test
  void howManyPathsAreKnownIsLimitedByTheirWeight() {
    SearchVariances few = new SearchVariances(10 * 300);
    int known = 0;
    for (int i = 0; i < 1000; i++) {
      few.learn(get("http://example.org/" + i), NO_PARAMS);
    }
    for (int i = 0; i < 1000; i++) {
      known += few.find(get("http://example.org/" + i)) == null ? 0 : 1;
    }
    assertThat(known).isBetween(1, 11);
  }

  @Test
  void eachNameOfARuleHasItsWeight() {
    SearchVariances few = new SearchVariances(10 * 300);
    String names =
        IntStream.range(0, 64).mapToObj(i -> "\"" + i + '"').collect(Collectors.joining(" "));
    few.learn(get("http://example.org/a"), variance("params=(" + names + ")"));
    assertThat(few.find(get("http://example.org/a"))).isNull();
  }
}
