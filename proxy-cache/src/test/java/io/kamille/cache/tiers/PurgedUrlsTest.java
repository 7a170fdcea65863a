package io.kamille.cache.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.TestMemory;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.PurgedUrls.PurgedUrl;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is remembered of purges, so that it can be fetched again. */
class PurgedUrlsTest {

  private static final String SITE = "http://example.org/";

  private final Arena arena = Arena.open(1 << 20);
  private final PurgedUrls urls = new PurgedUrls();

  @AfterEach
  void close() {
    arena.close();
  }

  private static Purge purge(long sequence) {
    return new Purge(sequence, PurgeTarget.all(), false, 0);
  }

  private void add(Purge purge, String uri, int hits) {
    ByteBuf octets = Unpooled.buffer();
    ResponseHead head = ResponseHead.of(200);
    EncodedHead encoded = ResponseCodec.encode(uri, head, octets);
    var stored = Objects.requireNonNull(TestMemory.store(arena, octets, 0));
    StoredFacts facts = StoredFacts.of(head, CachePolicy.DEFAULT, 0, 0);
    StoredResponse response = StoredResponse.of(encoded, stored, facts, SelectingFields.NONE);
    for (int i = 0; i < hits; i++) {
      response.countHit(0);
    }
    urls.add(purge, response);
    response.release();
  }

  @Test
  void ofMoreThanAThousandTheHottestAreRemembered() {
    Purge purge = purge(1);
    for (int i = 0; i < 1000; i++) {
      add(purge, SITE + i, 1 + i % 2);
    }
    assertThat(urls.of(purge)).hasSize(1000);
    add(purge, SITE + "as-cold-as-the-coldest", 1);
    assertThat(urls.of(purge)).extracting(PurgedUrl::uri).contains(SITE + 0, SITE + 998);
    for (int i = 0; i < 600; i++) {
      add(purge, SITE + "hot" + i, 3);
    }
    assertThat(urls.of(purge)).hasSize(1000);
    assertThat(urls.of(purge).subList(0, 600)).allMatch(url -> url.hits() == 3);
    assertThat(urls.of(purge).subList(600, 1000)).allMatch(url -> url.hits() == 2);
  }

  @Test
  void aUrlOfMoreThan2048CharactersIsNotRememberedAndTakesNobodysPlace() {
    Purge purge = purge(1);
    String longest = SITE + "x".repeat(2048 - SITE.length());
    add(purge, longest, 1);
    add(purge, longest + "x", 2);
    add(purge, SITE + "x".repeat(60_000), 3);
    assertThat(urls.of(purge)).extracting(PurgedUrl::uri).containsExactly(longest);
    for (int i = 0; i < 999; i++) {
      add(purge, SITE + i, 1);
    }
    add(purge, longest + "x", 9);
    assertThat(urls.of(purge)).hasSize(1000).allMatch(url -> url.hits() == 1);
  }

  @Test
  void ofMoreThanTenPurgesTheLastAreRemembered() {
    for (int i = 1; i <= 10; i++) {
      add(purge(i), SITE + i, 0);
    }
    Purge first = purge(11);
    add(first, SITE, 0);
    for (int i = 12; i <= 20; i++) {
      add(purge(i), SITE + i, 0);
    }
    assertThat(urls.of(first)).hasSize(1);
    add(purge(21), SITE, 0);
    assertThat(urls.of(first)).isEmpty();
  }
}
