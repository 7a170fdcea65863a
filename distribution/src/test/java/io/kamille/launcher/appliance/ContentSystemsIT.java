package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The purges of content systems, octet for octet as their clients write them: FOSHttpCache's {@code
 * Varnish}, Magento's {@code PurgeCache}, Shopware's {@code VarnishReverseProxyGateway}. They know
 * Kamille by an address that has no route.
 */
class ContentSystemsIT {

  @RegisterExtension private final Journey journey = new Journey();

  @BeforeEach
  void configure() {
    journey.with(
        "cache: {memory: {capacity: 16MiB}, purge-from: [127.0.0.1]}",
        "routes: [{upstream: site, host: a}]");
  }

  private void store(String target, String... fields) {
    String[] all = new String[fields.length + 1];
    all[0] = "Cache-Control: max-age=60";
    System.arraycopy(fields, 0, all, 1, fields.length);
    journey.origin().on(target, ok("x", all));
    journey.get(target);
  }

  private void purged(String octets, String... targets) {
    assertThat(journey.say(octets).status()).isEqualTo(200);
    for (String target : targets) {
      assertThat(journey.get(target).field("Cache-Status")).doesNotContain("hit");
    }
    assertThat(journey.get("/other").field("Cache-Status")).contains("; hit;");
  }

  @Test
  void magentoSendsAPatternOfTags() throws Exception {
    store("/product", "X-Magento-Tags: store,cat_p_17,cat_p");
    store("/other", "X-Magento-Tags: store,cat_p_1");
    assertThat(journey.get("/product").field("X-Magento-Tags")).isNull();
    purged(
        """
        PURGE / HTTP/1.1\r
        X-Magento-Tags-Pattern: ((^|,)cat_p_17(,|$))|((^|,)cms_b_2(,|$))\r
        Host: 127.0.0.1\r
        \r
        """,
        "/product");
    assertThat(journey.admin("/v1/cache/purges").body())
        .contains("\"kind\":\"tag\",\"of\":\"cat_p_17 cms_b_2\",\"mode\":\"hard\"");
  }

  @Test
  void shopwareSendsWordsInXkeyAndUrls() {
    store("/product", "xkey: product-0189 navigation-01");
    store("/other", "xkey: product-018");
    purged(
        """
        PURGE / HTTP/1.1\r
        Host: localhost\r
        User-Agent: GuzzleHttp/7\r
        xkey: product-0189 category-7\r
        \r
        """,
        "/product");
    purged(
        """
        PURGE /product HTTP/1.1\r
        Host: a\r
        User-Agent: GuzzleHttp/7\r
        \r
        """,
        "/product");
  }

  /** Its {@code banAll} says nothing that would tell all from nothing. */
  @Test
  void aBanThatNamesNothingIsRefused() {
    store("/other");
    assertThat(
            journey
                .say("BAN / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: GuzzleHttp/7\r\n\r\n")
                .status())
        .isEqualTo(400);
    assertThat(journey.get("/other").field("Cache-Status")).contains("; hit;");
  }

  @Test
  void fosHttpCacheBansByTags() {
    store("/product", "X-Cache-Tags: shoes,product-17");
    store("/other", "X-Cache-Tags: product-1");
    purged(
        """
        BAN / HTTP/1.1\r
        Host: 127.0.0.1:6081\r
        X-Host: .*\r
        X-Url: .*\r
        X-Content-Type: .*\r
        X-Cache-Tags: (product\\-17|hats)(,.+)?$\r
        \r
        """,
        "/product");
  }

  @Test
  void fosHttpCacheBansPaths() {
    store("/shop/1");
    store("/other");
    purged(
        """
        BAN / HTTP/1.1\r
        X-Host: .*\r
        X-Url: /shop/.*\r
        X-Content-Type: .*\r
        Host: 127.0.0.1\r
        \r
        """,
        "/shop/1");
    purged(
        """
        BAN / HTTP/1.1\r
        X-Host: ^(a|b.example)$\r
        X-Url: ^/shop\r
        X-Content-Type: text/html\r
        Host: 127.0.0.1\r
        \r
        """,
        "/shop/1");
  }

  @Test
  void fosHttpCacheMakesKeysStale() {
    store("/product", "xkey: c52 l2", "ETag: \"1\"");
    String purge = "PURGEKEYS / HTTP/1.1\r\nHost: 127.0.0.1\r\nxkey-softpurge: l2 p2\r\n\r\n";
    assertThat(journey.say(purge).content()).isEqualTo("purge number: 1\n");
    assertThat(journey.get("/product").field("Cache-Status")).contains("; hit; ttl=0");
  }

  @Test
  void othersAreRefusedBeforeAnythingIsRead() throws Exception {
    journey.with(
        "cache: {memory: {capacity: 16MiB}, purge-from: [192.0.2.1]}",
        "routes: [{upstream: site, host: a}]");
    store("/other", "xkey: a");
    assertThat(journey.ask("BAN", "/", "xkey: a").status()).isEqualTo(403);
    assertThat(journey.ask("PURGEKEYS", "/", "xkey: a").status()).isEqualTo(403);
    assertThat(journey.get("/other").field("Cache-Status")).contains("; hit;");
    assertThat(journey.admin("/v1/explain?url=http://b/&method=PURGE&field=xkey:%20a%20b").body())
        .contains("\"decision\":\"purge\"", "responses by tag: a b");
  }
}
