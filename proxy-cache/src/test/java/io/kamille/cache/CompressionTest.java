package io.kamille.cache;

import static io.kamille.cache.CacheFixture.NOW;
import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.aayushatharva.brotli4j.Brotli4jLoader;
import com.aayushatharva.brotli4j.decoder.BrotliInputStream;
import com.github.luben.zstd.ZstdInputStream;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.station.CacheHandler;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.RequestHead;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Stored responses are compressed beside the loop and sent in the form a request likes best. */
class CompressionTest {

  private static final String PAGE =
      "<p>A line of a page that says the same again.</p>\n".repeat(200);
  private static final String TAG = "\"v1\"";
  private static final CompressionRules RULES =
      new CompressionRules(
          List.of(ContentCoding.values()), List.of("text/*"), 1000, 1 << 20, false);

  private final CacheFixture fixture = new CacheFixture(8 << 20, settings(RULES));

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  @ParameterizedTest
  @EnumSource
  void aHitIsSentInTheCodingThatTheRequestTakes(ContentCoding coding) throws IOException {
    store(PAGE, "ETag", TAG);
    RecordingReply reply = fixture.get("Accept-Encoding", coding.token());
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.field("Content-Encoding")).isEqualTo(coding.token());
    assertThat(decoded(coding, reply.content())).isEqualTo(PAGE);
    assertThat(reply.field("Content-Length")).isEqualTo(Integer.toString(reply.content().length));
    assertThat(reply.field("ETag")).isEqualTo("W/" + TAG);
    assertThat(reply.field("Vary")).isEqualTo("Accept-Encoding");
    assertThat(reply.field("Content-Type")).isEqualTo("text/html");
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; hit; ttl=60");
    assertThat(reply.isWholeAtOnce()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "identity", "deflate", "gzip;q=0.5, identity", "br;q=0, gzip;q=x"})
  void section12_5_3_whoPrefersOrTakesNoCodingGetsIdentity(String accepted) {
    store(PAGE, "ETag", TAG);
    expectIdentity(fixture.get("Accept-Encoding", accepted));
  }

  @Test
  void section12_5_3_aRequestWithoutTheFieldGetsIdentity() {
    store(PAGE, "ETag", TAG);
    expectIdentity(fixture.get());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          gzip;q=1, br;q=0.9, zstd;q=0.9      | gzip
          gzip;q=0.2, zstd;q=0.3              | zstd
          br;q=0.001                          | br
          *;q=0.1, br;q=0, zstd;q=0, identity;q=0.1 | gzip
          x-gzip                              | gzip
          """)
  void section12_5_3_theHighestWeightDecides(String accepted, String coding) {
    store(PAGE);
    assertThat(fixture.get("Accept-Encoding", accepted).field("Content-Encoding"))
        .isEqualTo(coding);
  }

  @Test
  void ofFormsThatARequestLikesEquallyTheShortestIsSent() {
    store(PAGE);
    int shortest = Integer.MAX_VALUE;
    for (ContentCoding coding : ContentCoding.values()) {
      int length = fixture.get("Accept-Encoding", coding.token()).content().length;
      shortest = Math.min(shortest, length);
    }
    RecordingReply reply = fixture.get("Accept-Encoding", "gzip, deflate, br, zstd");
    assertThat(reply.content()).hasSize(shortest);
  }

  @Test
  void untilItIsCompressedAHitIsSentAsItIs() {
    fill(PAGE, "ETag", TAG);
    expectIdentity(fixture.get("Accept-Encoding", "gzip"));
  }

  @Test
  void theOriginIsAskedForIdentityAndTheMissNamesAcceptEncodingInVary() {
    RecordingReply miss = fill(PAGE, "ETag", TAG, "Vary", "Foo");
    assertThat(fixture.origin.last().field(FieldName.ACCEPT_ENCODING)).isEqualTo("identity");
    assertThat(miss.lines()).contains("Vary: Foo\r\n", "Vary: Accept-Encoding\r\n");
    assertThat(miss.field("ETag")).isEqualTo("W/" + TAG);
  }

  @Test
  void rfc9111Section4_1_requestsThatDifferInTheirCodingsShareWhatTheOriginVariesByThem() {
    store(PAGE, "ETag", TAG, "Vary", "Accept-Encoding");
    assertThat(fixture.get("Accept-Encoding", "br").field("Content-Encoding")).isEqualTo("br");
    expectIdentity(fixture.get());
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void rfc9111Section4_1_otherSelectingFieldsStillSelect() {
    fixture.fill(
        CacheFixture.fields("Foo", "1", "Accept-Encoding", "gzip"),
        200,
        PAGE,
        head("Vary", "Foo, Accept-Encoding"));
    fixture.compress();
    assertThat(fixture.isReused("Foo", "2", "Accept-Encoding", "gzip")).isFalse();
    assertThat(fixture.isReused("Foo", "1")).isTrue();
  }

  @Test
  void section12_5_3_whoExcludesIdentityGetsACodedFormOrTheOriginsAnswer() {
    RecordingReply missed = fixture.get("Accept-Encoding", "gzip, identity;q=0");
    assertThat(fixture.origin.last().field(FieldName.ACCEPT_ENCODING))
        .isEqualTo("gzip, identity;q=0");
    fixture.origin.last().respond(200, "x", "Cache-Control", "max-age=60");
    assertThat(missed.field("Cache-Status"))
        .isEqualTo("kamille; fwd=bypass; detail=identity-refused");
    store(PAGE);
    int before = fixture.forwarded();
    RecordingReply hit = fixture.get("Accept-Encoding", "gzip, identity;q=0");
    assertThat(hit.field("Content-Encoding")).isEqualTo("gzip");
    assertThat(fixture.forwarded()).isEqualTo(before);
    fixture.get("Accept-Encoding", "*;q=0");
    assertThat(fixture.forwarded()).isEqualTo(before + 1);
    fixture.origin.last().respond(406, "", "Cache-Control", "max-age=60");
  }

  @Test
  void rfc9111Section5_2_1_7_whoExcludesIdentityMayAskOnlyTheCache() {
    RecordingReply reply =
        fixture.get("Accept-Encoding", "identity;q=0", "Cache-Control", "only-if-cached");
    assertThat(reply.status()).isEqualTo(504);
    assertThat(fixture.forwarded()).isZero();
  }

  @Test
  void rfc9111Section5_2_1_6_aRequestWithNoTransformGetsIdentity() {
    store(PAGE, "ETag", TAG);
    expectIdentity(fixture.get("Accept-Encoding", "gzip", "Cache-Control", "no-transform"));
  }

  @Test
  void whatIsNotToBeCompressedIsNot() {
    fill("short", "ETag", TAG);
    fillAt("http://example.org/2", PAGE, "Cache-Control", "max-age=60, no-transform");
    fillAt("http://example.org/3", PAGE, "Content-Encoding", "gzip");
    fillAt("http://example.org/4", PAGE, "Content-Type", "image/png");
    fillAt("http://example.org/5", PAGE.repeat(200));
    assertThat(fixture.workers).isEmpty();
  }

  @Test
  void contentOfUnknownLengthIsCompressedIfItTurnsOutLongEnough() {
    fixture.get();
    fixture.origin.last().head(200, -1, head()).write(PAGE).end();
    fixture.run();
    fixture.compress();
    assertThat(fixture.get("Accept-Encoding", "br").field("Content-Encoding")).isEqualTo("br");
  }

  @Test
  void aFormThatSavesLessThanATenthIsNotKept() {
    byte[] octets = new byte[4000];
    new Random(3).nextBytes(octets);
    store(new String(octets, StandardCharsets.ISO_8859_1), "ETag", TAG);
    assertThat(fixture.get("Accept-Encoding", "gzip").field("Content-Encoding")).isNull();
    assertThat(fixture.counted("kamille_cache_compressions_total", "gzip", "useless")).isEqualTo(1);
    assertThat(fixture.workers).isEmpty();
  }

  @Test
  void section13_1_2_eitherTagIsAnsweredByNotModified() {
    store(PAGE, "ETag", TAG);
    for (String tag : List.of(TAG, "W/" + TAG)) {
      RecordingReply coded = fixture.get("Accept-Encoding", "gzip", "If-None-Match", tag);
      assertThat(coded.status()).isEqualTo(304);
      assertThat(coded.field("ETag")).isEqualTo("W/" + TAG);
      assertThat(coded.field("Vary")).isEqualTo("Accept-Encoding");
      RecordingReply uncoded = fixture.get("If-None-Match", tag);
      assertThat(uncoded.status()).isEqualTo(304);
      assertThat(uncoded.field("ETag")).isEqualTo(TAG);
    }
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void section9_3_2_headTellsOfTheFormThatGetWouldBring() {
    store(PAGE, "ETag", TAG);
    RecordingReply get = fixture.get("Accept-Encoding", "gzip");
    RecordingReply head = fixture.send("HEAD", URI, "Accept-Encoding", "gzip");
    assertThat(head.lines()).isEqualTo(get.lines());
    assertThat(head.content()).isEmpty();
  }

  @Test
  void section14_2_aRangeIsOneOfTheUncodedContent() {
    store(PAGE, "ETag", TAG, "Accept-Ranges", "bytes");
    RecordingReply part = fixture.get("Accept-Encoding", "gzip", "Range", "bytes=3-9");
    assertThat(part.status()).isEqualTo(206);
    assertThat(part.text()).isEqualTo(PAGE.substring(3, 10));
    assertThat(part.field("ETag")).isEqualTo(TAG);
    assertThat(part.field("Content-Encoding")).isNull();
    assertThat(fixture.get("Accept-Encoding", "gzip").field("Accept-Ranges")).isNull();
  }

  @Test
  void section13_1_5_thePartOfACodedFormIsNeverContinued() throws IOException {
    store(PAGE, "ETag", TAG, "Last-Modified", HttpDate.format(NOW - 9000));
    for (String condition : List.of("W/" + TAG, HttpDate.format(NOW - 9000))) {
      RecordingReply whole =
          fixture.get("Accept-Encoding", "gzip", "Range", "bytes=3-9", "If-Range", condition);
      assertThat(whole.status()).isEqualTo(200);
      assertThat(decoded(ContentCoding.GZIP, whole.content())).isEqualTo(PAGE);
    }
    RecordingReply part =
        fixture.get("Accept-Encoding", "gzip", "Range", "bytes=3-9", "If-Range", TAG);
    assertThat(part.status()).isEqualTo(206);
    assertThat(part.text()).isEqualTo(PAGE.substring(3, 10));
  }

  @Test
  void section14_2_whoExcludesIdentityGetsTheWholeForARange() {
    store(PAGE);
    RecordingReply whole =
        fixture.get("Accept-Encoding", "gzip, identity;q=0", "Range", "bytes=3-9");
    assertThat(whole.status()).isEqualTo(200);
    assertThat(whole.field("Content-Encoding")).isEqualTo("gzip");
  }

  @Test
  void rfc9111Section4_3_4_formsGetTheNewHeadAndKeepTheirContent() throws IOException {
    store(PAGE, "ETag", TAG, "X-Edition", "1");
    byte[] before = fixture.get("Accept-Encoding", "br").content();
    fixture.advance(61);
    RecordingReply validated = fixture.get("Accept-Encoding", "br");
    assertThat(fixture.origin.last().field(FieldName.ACCEPT_ENCODING)).isEqualTo("identity");
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo(TAG);
    fixture
        .origin
        .last()
        .respond(
            304, "", "ETag", TAG, "Cache-Control", "max-age=90", "X-Edition", "2", "Vary", "Foo");
    fixture.run();
    expectForm(validated, before, "2");
    assertThat(fixture.workers).isEmpty();
    RecordingReply hit = fixture.get("Accept-Encoding", "br");
    expectForm(hit, before, "2");
    assertThat(hit.lines()).contains("Vary: Foo\r\n", "Vary: Accept-Encoding\r\n");
    assertThat(decoded(ContentCoding.BR, hit.content())).isEqualTo(PAGE);
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  private static void expectForm(RecordingReply reply, byte[] content, String edition) {
    assertThat(reply.field("Content-Encoding")).isEqualTo("br");
    assertThat(reply.field("X-Edition")).isEqualTo(edition);
    assertThat(reply.field("ETag")).isEqualTo("W/" + TAG);
    assertThat(reply.content()).isEqualTo(content);
  }

  @Test
  void rfc9111Section4_3_4_aNewHeadThatForbidsItEndsTheForms() {
    store(PAGE, "ETag", TAG);
    fixture.advance(61);
    fixture.get();
    fixture
        .origin
        .last()
        .respond(304, "", "ETag", TAG, "Cache-Control", "max-age=90, no-transform");
    fixture.run();
    assertThat(fixture.get("Accept-Encoding", "br").field("Content-Encoding")).isNull();
  }

  @Test
  void whatIsFreshenedWhileItIsCompressedIsCompressedAfterwards() {
    fill(PAGE, "ETag", TAG);
    fixture.advance(61);
    fixture.get();
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=90");
    fixture.run();
    fixture.compress();
    assertThat(fixture.counted("kamille_cache_compressions_total", "br", "kept")).isEqualTo(1);
    assertThat(fixture.get("Accept-Encoding", "br").field("Content-Encoding")).isEqualTo("br");
  }

  @Test
  void aNewResponseTakesThePlaceOfAllForms() {
    store(PAGE, "ETag", TAG);
    fixture.advance(61);
    fixture.get();
    fixture.origin.last().respond(200, "other".repeat(300), head("ETag", "\"v2\""));
    fixture.run();
    RecordingReply reply = fixture.get("Accept-Encoding", "gzip");
    assertThat(reply.text()).isEqualTo("other".repeat(300));
    assertThat(reply.field("Content-Encoding")).isNull();
  }

  @Test
  void aPurgeTakesAllForms() {
    store(PAGE);
    assertThat(fixture.cache.operations().purge(URI)).hasValue(1);
    assertThat(fixture.cache.operations().usedBytes()).isZero();
  }

  @Test
  void anOperatorSeesTheFormsAndWhichOneARequestGets() {
    store(PAGE, "ETag", TAG);
    StoredObject object = fixture.cache.operations().objects(URI).orElseThrow().getFirst();
    assertThat(object.forms()).extracting(StoredObject.Form::coding).hasSize(3).contains("br");
    for (StoredObject.Form form : object.forms()) {
      assertThat(fixture.get("Accept-Encoding", form.coding()).content())
          .hasSize((int) form.contentBytes());
    }
    assertThat(codingStep("Accept-Encoding", "br"))
        .isEqualTo(
            new Reason(
                "coding",
                "RFC 9110 §12.5.3",
                "Accept-Encoding: br",
                "its content is sent in the coding br"));
    assertThat(codingStep("Accept-Encoding", "br", "Range", "bytes=3-9").so())
        .isEqualTo("its content is sent as it came");
    assertThat(codingStep().found()).isEqualTo("no Accept-Encoding");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          gzip, identity;q=0 |              | SERVE
          *;q=0              |              | PASS
          *;q=0              | only-if-cached | REFUSE
          gzip, identity;q=0 | no-cache     | PASS
          """)
  void section12_5_3_whatIsExplainedOfWhoExcludesIdentityIsWhatHappens(
      String accepted, @Nullable String control, Decision decision) {
    store(PAGE, "ETag", TAG);
    String[] request =
        control == null
            ? CacheFixture.fields("Accept-Encoding", accepted)
            : CacheFixture.fields("Accept-Encoding", accepted, "Cache-Control", control);
    Explanation explained = fixture.handler.explain(RequestHead.of("GET", URI, request));
    assertThat(explained.decision()).isEqualTo(decision);
    RecordingReply reply = fixture.get(request);
    assertThat(fixture.forwarded()).isEqualTo(decision == Decision.PASS ? 2 : 1);
    if (decision == Decision.PASS) {
      assertThat(explained.forward()).isEqualTo(ForwardReason.BYPASS);
      fixture.origin.last().respond(406, "");
      fixture.run();
      assertThat(reply.field("Cache-Status")).contains("fwd=bypass; detail=identity-refused");
    } else {
      assertThat(reply.status()).isEqualTo(decision == Decision.SERVE ? 200 : 504);
    }
  }

  private Reason codingStep(String... request) {
    return fixture.handler.explain(RequestHead.of("GET", URI, request)).because().stream()
        .filter(step -> step.rule().equals("coding"))
        .findFirst()
        .orElseThrow();
  }

  /** The worker's thread cannot be started, for one. */
  @Test
  void ifTheWorkersFailForLackOfMemoryTheResponseStaysUncoded() {
    RecordingReply leader = fixture.get();
    RecordingReply follower = fixture.get();
    fixture.noWorker = new OutOfMemoryError("unable to create native thread");
    String[] response = {"Cache-Control", "max-age=60", "Content-Type", "text/html", "ETag", TAG};
    fixture.origin.last().respond(200, PAGE, response);
    fixture.run();
    assertThat(leader.text()).isEqualTo(PAGE);
    assertThat(follower.text()).isEqualTo(PAGE);
    fixture.advance(100);
    RecordingReply validated = fixture.get("Accept-Encoding", "gzip");
    fixture.noWorker = new OutOfMemoryError("unable to create native thread");
    fixture.origin.last().respond(304, "", response);
    assertThat(validated.text()).isEqualTo(PAGE);
    assertThat(fixture.isReused("Accept-Encoding", "gzip")).isTrue();
  }

  @Test
  void aFaultWhileAResponseIsStoredLeavesNobodyWaitingAndHoldsNothing() {
    RecordingReply leader = fixture.get();
    RecordingReply follower = fixture.get();
    fixture.noWorker = new StackOverflowError("thrown by the test");
    ScriptedOrigin.Forwarded origin = fixture.origin.last();
    assertThatThrownBy(
            () ->
                origin.respond(
                    200, PAGE, "Cache-Control", "max-age=60", "Content-Type", "text/html"))
        .hasMessage("thrown by the test");
    fixture.run();
    assertThat(follower.text()).isEqualTo(PAGE);
    assertThat(follower.isComplete()).isTrue();
    assertThat(leader.isComplete()).isFalse();
    fixture.cache.operations().purges().clear();
    assertThat(fixture.cache.operations().usedBytes()).isZero();
  }

  @Test
  void aPurgeByTagTakesAllForms() {
    store(PAGE, "Surrogate-Key", "a");
    purgeTag(false);
    assertThat(fixture.isReused("Accept-Encoding", "br")).isFalse();
  }

  @Test
  void aSoftPurgeMakesAllFormsStaleAndAValidationKeepsThem() throws IOException {
    store(PAGE, "ETag", TAG, "X-Edition", "1", "Surrogate-Key", "a");
    byte[] before = fixture.get("Accept-Encoding", "br").content();
    purgeTag(true);
    RecordingReply stale = fixture.get("Accept-Encoding", "br");
    expectForm(stale, before, "1");
    assertThat(stale.field("Cache-Status")).isEqualTo("kamille; hit; ttl=0");
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo(TAG);
    fixture.origin.last().respond(304, "", "ETag", TAG, "X-Edition", "2");
    fixture.run();
    assertThat(fixture.workers).isEmpty();
    RecordingReply hit = fixture.get("Accept-Encoding", "br");
    expectForm(hit, before, "2");
    assertThat(decoded(ContentCoding.BR, hit.content())).isEqualTo(PAGE);
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void aPurgeByTagAfterANewHeadTakesAllForms() {
    store(PAGE, "ETag", TAG, "Surrogate-Key", "a");
    fixture.advance(61);
    fixture.get();
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=90");
    fixture.run();
    purgeTag(false);
    assertThat(fixture.isReused("Accept-Encoding", "br")).isFalse();
  }

  @Test
  void whatIsSoftlyPurgedWhileItWaitsIsCompressedAfterItsValidationAtTheLatest() {
    fill(PAGE, "ETag", TAG, "Surrogate-Key", "a");
    purgeTag(true);
    fixture.get();
    fixture.compress();
    fixture.origin.last().respond(304, "", "ETag", TAG);
    fixture.run();
    fixture.compress();
    assertThat(fixture.get("Accept-Encoding", "br").field("Content-Encoding")).isEqualTo("br");
  }

  private void purgeTag(boolean isSoft) {
    PurgeTarget target = PurgeTarget.tags(List.of("a"));
    assertThat(target).isNotNull();
    assertThat(fixture.cache.operations().purges().purge(target, isSoft)).isNotNull();
  }

  @Test
  void whatIsPurgedWhileItWaitsIsNotCompressed() {
    fill(PAGE);
    fixture.cache.operations().purge(URI);
    fixture.compress();
    assertThat(fixture.cache.operations().usedBytes()).isZero();
    assertThat(fixture.counted("kamille_cache_compressions_total", "br", "kept")).isZero();
  }

  @Test
  void aClientThatStillReadsAPurgedFormGetsItToTheEnd() throws IOException {
    String large = noise(600_000);
    try (CacheFixture roomy = new CacheFixture(16 << 20, settings(RULES))) {
      roomy.fill(200, large, head());
      roomy.compress();
      RecordingReply reply = new RecordingReply();
      reply.whenWritten(
          () -> {
            reply.whenWritten(() -> {});
            reply.pause();
          });
      roomy.handler.handle(roomy.exchange("GET", URI, reply, "Accept-Encoding", "gzip"));
      roomy.run();
      assertThat(reply.isComplete()).isFalse();
      roomy.cache.operations().purge(URI);
      reply.resume();
      roomy.run();
      assertThat(decoded(ContentCoding.GZIP, reply.content())).isEqualTo(large);
    }
  }

  @Test
  void withoutMemoryForAFormTheResponseStaysAsItIs() {
    try (CacheFixture small = new CacheFixture(1 << 20, settings(RULES))) {
      small.fill(200, noise(700_000), head());
      small.compress();
      long ended =
          small.counted("kamille_cache_compressions_total", "gzip", "no-memory")
              + small.counted("kamille_cache_compressions_total", "gzip", "replaced");
      assertThat(ended).isEqualTo(1);
    }
  }

  @Test
  void whatFindsNoPlaceInTheQueueStaysAsItIsAndIsCounted() {
    try (Cache cache =
        Cache.open(
            CacheFixture.memory(1 << 20, Long.MAX_VALUE),
            work -> {
              throw new RejectedExecutionException();
            },
            fixture.registry,
            fixture.clock)) {
      assertThat(fixture.counted("kamille_cache_compressions_refused_total")).isZero();
      ScriptedOrigin origin = new ScriptedOrigin();
      CacheHandler handler = cache.handler(origin, settings(RULES), RouteGate.OPEN);
      handler.handle(fixture.exchange("GET", URI, new RecordingReply()));
      origin.last().respond(200, PAGE, head());
      assertThat(fixture.counted("kamille_cache_compressions_refused_total")).isEqualTo(1);
    }
  }

  @Test
  void formsCountAsMemoryUsedAndAsWork() {
    fill(PAGE);
    long before = fixture.cache.operations().usedBytes();
    fixture.compress();
    assertThat(fixture.cache.operations().usedBytes()).isGreaterThan(before);
    assertThat(fixture.counted("kamille_cache_compressions_total", "zstd", "kept")).isEqualTo(1);
    assertThat(fixture.counted("kamille_cache_compressed_input_bytes_total", "zstd"))
        .isEqualTo(PAGE.length());
    assertThat(fixture.counted("kamille_cache_compressed_output_bytes_total", "zstd"))
        .isEqualTo(fixture.get("Accept-Encoding", "zstd").content().length);
  }

  @Test
  void aRouteThatDoesNotCompressForwardsWhatTheClientTakes() {
    try (CacheFixture plain = new CacheFixture()) {
      plain.get("Accept-Encoding", "br");
      assertThat(plain.origin.last().field(FieldName.ACCEPT_ENCODING)).isEqualTo("br");
      plain.origin.last().respond(200, PAGE, head());
      plain.run();
      assertThat(plain.workers).isEmpty();
      assertThat(plain.get().field("Vary")).isNull();
    }
  }

  @Test
  void aRequestWithAuthorizationIsForwardedWithWhatTheClientTakes() {
    fixture.get("Authorization", "Basic eDp5", "Accept-Encoding", "br");
    assertThat(fixture.origin.last().field(FieldName.ACCEPT_ENCODING)).isEqualTo("br");
    fixture
        .origin
        .last()
        .respond(200, "x", "Cache-Control", "public, max-age=9", "Vary", "Accept-Encoding");
    fixture.run();
    assertThat(fixture.isReused("Accept-Encoding", "gzip")).isFalse();
  }

  private void store(String content, String... fields) {
    fill(content, fields);
    fixture.compress();
  }

  private RecordingReply fill(String content, String... fields) {
    return fixture.fill(
        CacheFixture.fields("Accept-Encoding", "gzip, br"), 200, content, head(fields));
  }

  private void fillAt(String uri, String content, String... fields) {
    fixture.send("GET", uri, "Accept-Encoding", "gzip");
    fixture.origin.last().respond(200, content, head(fields));
    fixture.run();
  }

  /** The fields, after those of a page that may be stored unless they say otherwise. */
  private static String[] head(String... fields) {
    List<String> given = List.of(fields);
    List<String> all = new ArrayList<>(given);
    if (!given.contains("Cache-Control")) {
      all.addAll(List.of("Cache-Control", "max-age=60"));
    }
    if (!given.contains("Content-Type")) {
      all.addAll(List.of("Content-Type", "text/html"));
    }
    return all.toArray(String[]::new);
  }

  private static void expectIdentity(RecordingReply reply) {
    assertThat(reply.text()).isEqualTo(PAGE);
    assertThat(reply.field("Content-Encoding")).isNull();
    assertThat(reply.field("ETag")).isEqualTo(TAG);
    assertThat(reply.field("Vary")).isEqualTo("Accept-Encoding");
  }

  /** Text of which a quarter can be saved. */
  private static String noise(int length) {
    Random random = new Random(length);
    StringBuilder text = new StringBuilder(length);
    while (text.length() < length) {
      text.append((char) ('0' + random.nextInt(64)));
    }
    return text.toString();
  }

  private static String decoded(ContentCoding coding, byte[] content) throws IOException {
    ByteArrayInputStream in = new ByteArrayInputStream(content);
    Brotli4jLoader.ensureAvailability();
    try (InputStream decoder =
        switch (coding) {
          case GZIP -> new GZIPInputStream(in);
          case BR -> new BrotliInputStream(in);
          case ZSTD -> new ZstdInputStream(in);
        }) {
      return new String(decoder.readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  private static CacheSettings settings(CompressionRules rules) {
    CacheSettings defaults = TestSettings.of(1 << 20);
    return TestSettings.of(defaults.policy(), rules, defaults.maxObjectBytes());
  }
}
