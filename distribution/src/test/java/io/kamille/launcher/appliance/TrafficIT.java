package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient.Answer;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Routes with a second upstream: a split of the clients, and a mirror. */
class TrafficIT {

  private static final String FRESH = "Cache-Control: max-age=60";

  @RegisterExtension private final Journey journey = new Journey();

  private final StubOrigin second = open();

  private static StubOrigin open() {
    try {
      return StubOrigin.open();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void twoUpstreams() {
    journey.origin().on("/", ok("old", FRESH));
    second.on("/", ok("new", FRESH));
    journey.with(
        "upstreams: {old: {origins: ['"
            + journey.origin().url()
            + "']}, new: {origins: ['"
            + second.url()
            + "']}}");
  }

  @AfterEach
  void close() throws IOException {
    second.close();
  }

  /** Half of the clients, whose addresses a proxy says. */
  private void split() {
    journey.with(
        "listeners: [{address: '127.0.0.1:0', trusted-proxies: {from: [127.0.0.1]}}]",
        "routes: [{upstream: old, split: {upstream: new, share: 0.5}}]");
  }

  private static String client(int id) {
    return "X-Forwarded-For: 192.0.2." + id;
  }

  @Test
  void aClientOfTheSplitStaysThereAndTheCacheIsForTheOthers() {
    split();
    int others = 0;
    for (int id = 0; id < 20; id++) {
      Answer first = journey.get("/", client(id));
      Answer again = journey.get("/", client(id));
      assertThat(again.content()).isEqualTo(first.content());
      if (first.content().equals("new")) {
        others++;
        assertThat(again.field("Cache-Status")).contains("fwd=bypass; detail=split");
      } else {
        assertThat(again.field("Cache-Status")).contains("hit");
      }
    }
    assertThat(others).isBetween(4, 16);
    assertThat(journey.origin().requests("/")).hasSize(1);
    assertThat(second.requests("/")).hasSize(2 * others);
  }

  @Test
  void anUnsafeRequestOfTheSplitInvalidatesWhatIsStoredForTheOthers() {
    journey.origin().on("/a", ok("old", FRESH));
    second.on("/a", ok("new"));
    split();
    String other = "";
    String usual = "";
    for (int id = 0; other.isEmpty() || usual.isEmpty(); id++) {
      boolean isOther = journey.get("/a", client(id)).content().equals("new");
      other = isOther ? client(id) : other;
      usual = isOther ? usual : client(id);
    }
    assertThat(journey.get("/a", usual).field("Cache-Status")).contains("hit");
    assertThat(journey.ask("DELETE", "/a", other).content()).isEqualTo("new");
    assertThat(journey.get("/a", usual).field("Cache-Status")).doesNotContain("hit");
  }

  @Test
  void aMirrorGetsWhatIsForwardedAndNobodySeesItsAnswer() {
    journey.with("routes: [{upstream: old, mirror: {upstream: new}}]");
    assertThat(journey.get("/").content()).isEqualTo("old");
    assertThat(journey.get("/").field("Cache-Status")).contains("hit");
    Await.until(() -> second.requests("/").size() == 1, "the copy is there");
    assertThat(journey.ask("POST", "/").content()).isEqualTo("old");
    assertThat(second.requests("/")).hasSize(1);
  }

  @Test
  void aMirrorThatIsNotThereBreaksNothing() throws IOException {
    second.close();
    journey.with("routes: [{upstream: old, cache: off, mirror: {upstream: new}}]");
    for (int i = 0; i < 10; i++) {
      assertThat(journey.get("/").content()).isEqualTo("old");
    }
  }

  @Test
  void aMirrorThatNeverAnswersSlowsNothing() {
    second.on("/", visit -> visit.in().readAllBytes());
    journey.with("routes: [{upstream: old, cache: off, mirror: {upstream: new}}]");
    for (int i = 0; i < 50; i++) {
      assertThat(journey.get("/").content()).isEqualTo("old");
    }
    Await.until(() -> !second.requests("/").isEmpty(), "a copy is there");
  }
}
