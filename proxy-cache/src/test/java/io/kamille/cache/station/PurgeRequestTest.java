package io.kamille.cache.station;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.TagFields;
import io.kamille.cache.station.PurgeRequest.Order;
import io.kamille.core.http.RequestHead;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What content systems write to have something purged. */
class PurgeRequestTest {

  private static final TagFields FIELDS = new TagFields(List.of("xkey", "Page-Tags"));

  private static @Nullable PurgeRequest read(String method, String... fields) {
    return PurgeRequest.of(RequestHead.of(method, "http://127.0.0.1/", fields), FIELDS);
  }

  private static String orders(String method, String... fields) {
    PurgeRequest read = Objects.requireNonNull(read(method, fields));
    assertThat(read.refusal()).isNull();
    return read.orders().stream().map(PurgeRequestTest::text).collect(Collectors.joining("; "));
  }

  private static String text(Order order) {
    String names = String.join(" ", order.target().names());
    return ((order.isSoft() ? "soft " : "") + order.target().kind().token() + " " + names).strip();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "PURGE; xkey; product-1 product-2",
        "PURGE; xkey; 'product-1, product-2'",
        "PURGE; Surrogate-Key; product-1 product-2",
        "PURGE; Cache-Tag; 'product-1, product-2'",
        "BAN; Cache-Tag; '(product\\-1|product\\-2)(,.+)?$'",
        "BAN; xkey; product-1 product-2",
        "PURGEKEYS; xkey-purge; product-1 product-2",
        "PURGE; X-Magento-Tags-Pattern; ((^|,)product-1(,|$))|((^|,)product-2(,|$))",
        "BAN; X-Cache-Tags; (product\\-1|product\\-2)(,.+)?$",
        "BAN; X-Cache-Tags; '(^|,)(product\\-1|product\\-2)(,|$)'",
        "PURGE; X-Magento-Tags-Pattern; product-1|product-2",
        "BAN; X-Cache-Tags; 'product-1,product-2'",
        "BAN; Cache-Tag; 'product-1, product-2'",
        "BAN; X-Cache-Tags; '(product-1(,|$))|((^|,)product-2$)'",
        "BAN; X-Cache-Tags; '(^|,)product-1(,|$)|(^|,)product-2(,|$)'",
        "BAN; Page-Tags; ^(product-1|product-2)$",
        "BAN; Page-Tags; product-1 product-2",
        "PURGE; Page-Tags; 'product-1, product-2'",
        "PURGE; Page-Tags; product-1|product-2",
      })
  void tagsAreReadAsTheListThatTheyAre(String method, String name, String value) {
    assertThat(orders(method, name, value)).isEqualTo("tag product-1 product-2");
  }

  @Test
  void theSoftFieldMakesStaleWhatItNames() {
    assertThat(orders("PURGEKEYS", "xkey-softpurge", "a b")).isEqualTo("soft tag a b");
    assertThat(orders("PURGE", "xkey-softpurge", "a", "xkey-purge", "b"))
        .isEqualTo("tag b; soft tag a");
  }

  @Test
  void severalLinesAreOneList() {
    assertThat(orders("PURGE", "xkey", "a", "xkey", "b a")).isEqualTo("tag a b");
  }

  /** Magento's {@code cache:flush}, and {@code clear} of FOSHttpCache. */
  @Test
  void anExpressionForEverythingIsEverything() {
    assertThat(orders("PURGE", "X-Magento-Tags-Pattern", ".*")).isEqualTo("all");
    assertThat(orders("BAN", "X-Host", ".*", "X-Url", ".*", "X-Content-Type", ".*"))
        .isEqualTo("all");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "^/shop/.*; .*; prefix /shop/;",
        "/shop/.*; .*; prefix /shop/;",
        "^/shop; .*; prefix /shop;",
        "^/a\\.b\\?c=1; .*; prefix /a.b?c=1;",
        "'^/a,b'; .*; 'prefix /a,b';",
        "^/shop/; ^(a.org|b\\.org:81)$; prefix //a.org/shop/; prefix //b.org:81/shop/",
        ".*; ^(a.org|b.org)$; host a.org; host b.org",
        ".*; ^a.org$; host a.org;",
      })
  void aBanIsByPrefixAndHost(String url, String host, String first, @Nullable String second) {
    assertThat(orders("BAN", "X-Url", url, "X-Host", host, "X-Content-Type", "text/html"))
        .isEqualTo(second == null ? first : first + "; " + second);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "BAN; X-Other; a",
        "PURGEKEYS; X-Other; a",
        "PURGE; xkey; ' '",
        "PURGE; X-Magento-Tags-Pattern; *",
        "PURGE; xkey; .*",
        "PURGE; Surrogate-Key; a b*",
        "BAN; Cache-Tag; *",
        "PURGE; Page-Tags; node:*",
        "PURGE; Page-Tags; (^| )a( |$)",
        "PURGE; X-Magento-Tags-Pattern; product_[0-9]+",
        "PURGE; X-Magento-Tags-Pattern; (a|b)c",
        "PURGE; X-Magento-Tags-Pattern; (a|b",
        "PURGE; X-Magento-Tags-Pattern; a)",
        "PURGE; X-Magento-Tags-Pattern; 'a(^|,)b'",
        "PURGE; X-Magento-Tags-Pattern; 'a(,|$)b'",
        "PURGE; X-Magento-Tags-Pattern; a\\\\|b",
        "BAN; X-Cache-Tags; \\d",
        "BAN; X-Cache-Tags; a\\",
        "BAN; X-Cache-Tags; product.*",
        "BAN; X-Cache-Tags; a|",
        "BAN; X-Cache-Tags; 'a,,b'",
        "BAN; X-Cache-Tags; ^product-1",
        "BAN; X-Cache-Tags; ^product-1|a$",
        "BAN; X-Cache-Tags; product-.$",
        "BAN; X-Cache-Tags; a$|",
        "BAN; X-Cache-Tags; (a||b)$",
        "BAN; X-Cache-Tags; (|a)(,.+)?$",
        "BAN; X-Cache-Tags; (a|)(,.+)?$",
        "BAN; X-Cache-Tags; '((^|,)a(,|$))|((^|,)b)'",
        "BAN; Cache-Tag; product-.",
        "BAN; Cache-Tag; product\\-1",
        "BAN; X-Url; .*png$",
        "BAN; X-Url; /sh.p",
        "BAN; X-Url; ^//a.org/",
        "BAN; X-Url; ^//a\\.org/",
        "BAN; X-Url; ^/\\/a\\.org/",
        "BAN; X-Url; ^/$",
        "BAN; X-Url; ^/(a|b)/",
        "BAN; X-Url; news",
        "BAN; X-Url; ^",
        "BAN; X-Host; example",
        "BAN; X-Host; ^a.org",
        "BAN; X-Host; ^a.org|b.org$",
        "BAN; X-Host; ^(a.org|)$",
        "BAN; X-Host; ^(www\\.)?a\\.org$",
        "BAN; X-Host; a b",
      })
  void whatCannotBeReadIsRefused(String method, String name, String value) {
    PurgeRequest read = Objects.requireNonNull(read(method, name, value));
    assertThat(read.refusal()).isNotNull();
    assertThat(read.orders()).isEmpty();
  }

  @Test
  void aLongExpressionIsReadOnce() {
    String tags = "((^|,)a(,|$))|".repeat(1000);
    assertThat(orders("BAN", "X-Cache-Tags", tags + "a$")).isEqualTo("tag a");
    String endless = "a".repeat(60_000);
    assertThat(Objects.requireNonNull(read("BAN", "X-Cache-Tags", endless)).refusal()).isNotNull();
  }

  @Test
  void thereAreLimits() {
    List<String> many = IntStream.range(0, 1025).mapToObj(i -> "t" + i).toList();
    assertThat(Objects.requireNonNull(read("PURGE", "xkey", String.join(" ", many))).refusal())
        .isNotNull();
    String hosts = "^(" + String.join("|", many.subList(0, 17)) + ")$";
    assertThat(Objects.requireNonNull(read("BAN", "X-Host", hosts)).refusal()).isNotNull();
  }

  /** Plug-ins for WordPress and others. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "/.*; regex; host h.test",
        "/.*; Regex; host h.test",
        "/.*; ; host h.test",
        "/*; ; host h.test",
        "/*; default; host h.test",
        "/; regex; host h.test",
        "/wp-content/.*; regex; prefix //h.test/wp-content/",
        "/wp-content/.*; ; prefix //h.test/wp-content/",
        "/wp-content/*; ; prefix //h.test/wp-content/",
        "/wp-content/; regex; prefix //h.test/wp-content/",
        "/img/a*; ; prefix //h.test/img/a",
        "/img/a.b*; ; prefix //h.test/img/a.b",
        "/a?b=*; ; prefix //h.test/a?b=",
      })
  void aPatternInTheUrlIsAPrefix(String path, @Nullable String way, String expected) {
    for (String name : List.of("X-Purge-Method", "X-VC-Purge-Method")) {
      assertThat(text(path, name, way)).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "/a.html; regex",
        "/a*; regex",
        "/(a|b).*; regex",
        "/a.b.*; ",
        "/a?b=.*; ",
        "/a/*/b*; ",
        "/[0-9]*; regex",
        "/a; wildcard",
        "/a; ''",
      })
  void aPatternThatIsNoPrefixIsRefused(String path, @Nullable String way) {
    assertThat(text(path, "X-Purge-Method", way)).isEqualTo("refused");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {"/a; ", "/a; default", "/a; exact", "/a*; exact", "/a*b; "})
  void whatIsNoPatternIsTheUrlItself(String path, @Nullable String way) {
    assertThat(text(path, "X-Purge-Method", way)).isEqualTo("url");
  }

  private static String text(String path, String name, @Nullable String way) {
    String[] fields = way == null ? new String[0] : new String[] {name, way};
    RequestHead request = RequestHead.of("PURGE", "http://h.test" + path, fields);
    PurgeRequest read = PurgeRequest.of(request, FIELDS);
    if (read == null) {
      return "url";
    }
    return read.refusal() != null ? "refused" : text(read.orders().getFirst());
  }

  @Test
  void aPurgeWithoutAnyIsOfItsUrl() {
    assertThat(read("PURGE", "X-Url", "/a")).isNull();
  }
}
