package io.kamille.cache.key;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.kamille.core.http.RequestHead;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueryFilterTest {

  private static final QueryRules IGNORING =
      new QueryRules(NamePatterns.of(List.of("utm_*", "x", "a[]")), false, false);
  private static final QueryRules KEEPING =
      new QueryRules(NamePatterns.of(List.of("id", "page")), true, false);
  private static final QueryRules KEEPING_NONE = new QueryRules(NamePatterns.NONE, true, false);
  private static final QueryRules SORTING = new QueryRules(NamePatterns.NONE, false, true);

  private final QueryFilter filter = new QueryFilter();

  @ParameterizedTest
  @CsvSource({
    "/a, /a",
    "/a?b=1, /a?b=1",
    "/a?utm_source=1&b=2, /a?b=2",
    "/a?b=2&utm_source=1&c=3, /a?b=2&c=3",
    "/a?utm_source=1, /a",
    "/a?x&xy&x=1, /a?xy",
    "/a?X=1, /a?X=1",
    "/a?%75tm_a=1&b, /a?b",
    "/a?a%5B%5D=1&a[]=2&b, /a?b",
    "/a?b=utm_a, /a?b=utm_a",
    "/a?b=1;utm_a=2, /a?b=1;utm_a=2",
    "/a?%7Eb=%41&x=1, /a?%7Eb=%41",
    "/a?, /a",
    "/a?&, /a",
    "/a?b&&c&, /a?b&c",
    "/a?=1, /a?=1",
    "/a?%x=1&%, /a?%x=1&%"
  })
  void ignoredParametersAreLeftOutAndAllElseStaysAsItCame(String target, String expected) {
    assertThat(filtered(IGNORING, target)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "/a?id=1&b=2&page=3, /a?id=1&page=3",
    "/a?b=2, /a",
    "/a?ID=1, /a",
    "/a?%69d=1, /a?%69d=1"
  })
  void keptParametersAloneStay(String target, String expected) {
    assertThat(filtered(KEEPING, target)).isEqualTo(expected);
    assertThat(filtered(KEEPING_NONE, target)).isEqualTo("/a");
  }

  @ParameterizedTest
  @CsvSource({
    "/a?b=1&a=2, /a?a=2&b=1",
    "/a?a=2&b=1, /a?a=2&b=1",
    "/a?b=2&a=1&b=1, /a?a=1&b=2&b=1",
    "/a?%61=2&a=1, /a?%61=2&a=1",
    "/a?a=1&%61=2, /a?a=1&%61=2",
    "/a?A=2&a=1, /a?A=2&a=1",
    "/a?a=1&A=2, /a?a=1&A=2",
    "/a?b+c=1&b%20c=2, /a?b+c=1&b%20c=2",
    "/a?ab&a, /a?a&ab",
    "/a?a%, /a?a%"
  })
  void parametersAreSortedByNameAndOneNameKeepsItsOrder(String target, String expected) {
    assertThat(filtered(SORTING, target)).isEqualTo(expected);
  }

  @Test
  void aLongQueryIsNotSorted() {
    String target = "/a?" + "b=1&".repeat(64) + "a=1";
    assertThat(filtered(SORTING, target)).isEqualTo(target);
  }

  @Test
  void manyLongParametersAreNoTrouble() {
    String kept = "b=1&".repeat(2000) + "c=" + "d".repeat(5000);
    assertThat(filtered(IGNORING, "/a?x=1&" + kept)).isEqualTo("/a?" + kept);
  }

  @Test
  void whatIsFilteredOnceStaysAsItIs() {
    RequestHead request = RequestHead.of("GET", "http://example.org/a?x=1&b=2");
    filter.apply(IGNORING, request);
    int start = request.pathStart();
    filter.apply(IGNORING, request);
    assertThat(request.pathStart()).isEqualTo(start);
  }

  @Test
  void theTargetStaysAsItCame() {
    RequestHead request =
        RequestHead.of("GET", "http://example.org/a?x=1&b=2", "Accept", "text/html");
    filter.apply(IGNORING, request);
    assertThat(request.target()).isEqualTo("/a?x=1&b=2");
    assertThat(request.path()).isEqualTo("/a");
    assertThat(request.authority()).isEqualTo("example.org");
    assertThat(request.fields().all("accept")).containsExactly("text/html");
    assertThat(request.copy().pathAndQuery()).isEqualTo("/a?b=2");
  }

  @Test
  void theKeyIsThatOfTheQueryThatIsForwarded() {
    RequestHead request = RequestHead.of("GET", "http://example.org/a?x=1&b=2");
    filter.apply(IGNORING, request);
    assertThat(CacheKey.of(request))
        .isEqualTo(CacheKey.of(RequestHead.of("GET", "http://example.org/a?b=2")));
  }

  @Test
  void aUriIsFoundAsItsRouteStoresIt() {
    CacheKey stored = CacheKey.of(RequestHead.of("GET", "http://example.org/?b=2"));
    for (String uri :
        List.of(
            "http://example.org/?x=1&b=2",
            "HTTP://Example.org:80?b=2&x=1#c",
            "http://example.org/?b=2")) {
      RequestHead request = Objects.requireNonNull(CacheKey.request(uri));
      assertThat(CacheKey.of(QueryFilter.filtered(IGNORING, request))).isEqualTo(stored);
    }
    assertThat(CacheKey.request("ftp://example.org/?x=1")).isNull();
  }

  @Test
  void rulesThatChangeNothingMakeNoGarbage() {
    RequestHead request = RequestHead.of("GET", "http://example.org/a?x=1&b=2&a=3");
    QueryRules rules = new QueryRules(NamePatterns.of(List.of("y")), false, false);
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 20; i++) {
      long before = allocated();
      for (int j = 0; j < 1000; j++) {
        filter.apply(rules, request);
      }
      least = Math.min(least, allocated() - before);
    }
    assertThat(least).isLessThan(1000);
  }

  private static long allocated() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
  }

  private String filtered(QueryRules rules, String target) {
    RequestHead request = RequestHead.of("GET", "http://example.org" + target);
    filter.apply(rules, request);
    return request.pathAndQuery();
  }
}
