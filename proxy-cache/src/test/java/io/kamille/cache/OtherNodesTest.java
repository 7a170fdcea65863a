package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.NormalUri;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cache.removal.OtherNodes;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.station.PurgeMethod;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.gate.AddressRanges;
import io.kamille.core.http.RequestHead;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What other nodes are told of that may have stored the same. */
class OtherNodesTest implements OtherNodes {

  private final CacheFixture fixture = new CacheFixture();
  private final List<String> invalidated = new ArrayList<>();
  private final List<PurgeTarget> purged = new ArrayList<>();
  private final List<Done> orders = new ArrayList<>();
  private final List<Boolean> soft = new ArrayList<>();
  private @Nullable Done ordered;
  private CompletableFuture<?> kept = CompletableFuture.completedFuture(null);

  @BeforeEach
  void share() {
    fixture.cache.operations().purges().share(this);
    fixture
        .cache
        .operations()
        .purges()
        .tellOfInvalid(request -> invalidated.add(NormalUri.of(request)));
  }

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  @Override
  public CompletionStage<?> purged(List<PurgeTarget> targets) {
    purged.addAll(targets);
    return kept;
  }

  @Override
  public void purge(PurgeTarget target, boolean isSoft, Done done) {
    purged.add(target);
    soft.add(isSoft);
    orders.add(done);
    ordered = done;
  }

  /** RFC 9111 §4.4. */
  @Test
  void anUnsafeRequestInvalidatesThereToo() {
    fixture.send("POST", URI);
    fixture.origin.last().respond(303, "", "Location", "/other");
    assertThat(invalidated).containsExactly(URI, URI.substring(0, URI.lastIndexOf('/')) + "/other");
  }

  @Test
  void anUnsafeRequestIsAnsweredOnceTheyWillKnow() {
    kept = new CompletableFuture<>();
    RecordingReply reply = fixture.send("POST", URI);
    fixture
        .origin
        .last()
        .head(200, -1, "Content-Location", "/other")
        .write("done")
        .endWith("Digest", "d");
    fixture.run();
    assertThat(reply.status()).isZero();
    assertThat(fixture.origin.last().exchange().reply().isBegun())
        .as("none is sent twice")
        .isTrue();
    assertThat(purged)
        .containsExactly(
            PurgeTarget.url(URI),
            PurgeTarget.url(URI.substring(0, URI.lastIndexOf('/')) + "/other"));
    kept.complete(null);
    fixture.run();
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.field("Content-Location")).isEqualTo("/other");
    assertThat(reply.text()).isEqualTo("done");
    assertThat(Objects.requireNonNull(reply.trailers()).toString()).contains("Digest: d");
    assertThat(reply.isEnded()).isTrue();
  }

  @Test
  void whoeverGoesAwayMeanwhileLeavesNothing() {
    kept = new CompletableFuture<>();
    RecordingReply reply = fixture.send("POST", URI);
    fixture.origin.last().respond(200, "done");
    reply.leave();
    kept.complete(null);
    fixture.run();
    assertThat(reply.status()).isZero();
  }

  @Test
  void aSafeOneDoesNot() {
    fixture.store("hello");
    assertThat(invalidated).isEmpty();
  }

  /** RFC 9875 §3: the same target is made of what they are told. */
  @Test
  void groupsArePurgedThereByTheirNames() {
    fixture.send("POST", URI);
    fixture.origin.last().respond(204, "", "Cache-Group-Invalidation", "\"a\", \"b\"");
    PurgeTarget target = purged.getLast();
    assertThat(target.kind()).isEqualTo(Scope.GROUP);
    assertThat(PurgeTarget.of(target.kind(), target.names())).isEqualTo(target);
  }

  @Test
  void aClientsPurgeIsAnsweredOnceTheyHaveDoneIt() {
    RecordingReply reply = purge("PURGE");
    assertThat(reply.status()).isZero();
    assertThat(purged).containsExactly(PurgeTarget.url(URI));
    Objects.requireNonNull(ordered).purged(202, 5);
    fixture.run();
    assertThat(reply.status()).isEqualTo(202);
    assertThat(reply.text()).isEqualTo("purged: 5\n");
  }

  @Test
  void aPurgeThatIsNotInTheirLogSaysSo() {
    RecordingReply reply = purge("PURGE");
    Objects.requireNonNull(ordered).purged(503, 5);
    fixture.run();
    assertThat(reply.status()).isEqualTo(503);
    assertThat(reply.field("Retry-After")).isEqualTo("1");
    assertThat(reply.text()).isEqualTo("purged: 5\nnot in the log of the cluster yet: repeat it\n");
  }

  @Test
  void aPurgeThatIsTooLongForTheirLogSaysSo() {
    RecordingReply reply = purge("PURGEKEYS", "xkey-purge", "a b");
    Objects.requireNonNull(ordered).purged(400, 0);
    fixture.run();
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text())
        .isEqualTo("purged: 0\nmore than 128 KiB for the log of the cluster: name fewer tags\n");
  }

  @Test
  void tagsArePurgedThereToo() {
    RecordingReply reply = purge("PURGEKEYS", "xkey-purge", "a b", "xkey-softpurge", "c");
    assertThat(purged)
        .containsExactly(PurgeTarget.tags(List.of("a", "b")), PurgeTarget.tags(List.of("c")));
    assertThat(soft).containsExactly(false, true);
    orders.getFirst().purged(202, 1);
    fixture.run();
    assertThat(reply.status()).isZero();
    orders.getLast().purged(200, 2);
    fixture.run();
    assertThat(reply.status()).isEqualTo(202);
    assertThat(reply.text()).isEqualTo("purged: 3\n202 hard tag a b\n200 soft tag c\n");
  }

  /** What another node makes of the names is the same. */
  @Test
  void aPathAtAllHostsIsPurgedThereToo() {
    purge("BAN", "X-Url", "^/shop/");
    PurgeTarget target = purged.getFirst();
    assertThat(PurgeTarget.of(target.kind(), target.names())).isEqualTo(target);
    assertThat(target.matches("https://a.example/shop/1", Tags.NONE)).isTrue();
    assertThat(target.matches("https://a.example/de/shop/1", Tags.NONE)).isFalse();
    assertThat(target.matches("http://shop/", Tags.NONE)).isFalse();
  }

  private RecordingReply purge(String name, String... fields) {
    PurgeMethod method = fixture.cache.purgeMethod(fixture.handler, _ -> true);
    method.allow(AddressRanges.parse(List.of("127.0.0.0/8")), TagFields.USUAL);
    InetSocketAddress client = new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000);
    RecordingReply reply = new RecordingReply();
    method.handle(
        new Exchange(
            fixture.loop(),
            client,
            client,
            RequestHead.of(name, URI, fields),
            RequestContent.NONE,
            reply));
    return reply;
  }
}
