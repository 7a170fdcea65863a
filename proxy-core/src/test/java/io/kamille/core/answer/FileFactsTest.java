package io.kamille.core.answer;

import static io.kamille.core.answer.FileFacts.Verdict.NOT_MODIFIED;
import static io.kamille.core.answer.FileFacts.Verdict.PRECONDITION_FAILED;
import static io.kamille.core.answer.FileFacts.Verdict.SEND;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.answer.FileFacts.Verdict;
import io.kamille.core.http.ByteRange;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.RequestHead;
import org.junit.jupiter.api.Test;

class FileFactsTest {

  private static final long NOW = 1_800_000_000;
  private static final long MODIFIED = NOW - 1_000;
  private static final FileFacts FILE =
      new FileFacts(1_000, MODIFIED, "\"a-1\"", "text/plain", null, false);

  @Test
  void aTagThatMatchesSaysNotModified() {
    assertThat(judge("If-None-Match", "\"x\", W/\"a-1\"")).isEqualTo(NOT_MODIFIED);
    assertThat(judge("If-None-Match", "*")).isEqualTo(NOT_MODIFIED);
    assertThat(judge("If-None-Match", "\"x\"")).isEqualTo(SEND);
  }

  @Test
  void aDateCountsWhereThereIsNoTag() {
    assertThat(judge("If-Modified-Since", date(0))).isEqualTo(NOT_MODIFIED);
    assertThat(judge("If-Modified-Since", date(-1))).isEqualTo(SEND);
    assertThat(judge("If-Modified-Since", "yesterday")).isEqualTo(SEND);
    assertThat(judge("If-Modified-Since", date(0), "If-None-Match", "\"x\"")).isEqualTo(SEND);
  }

  @Test
  void aRequestForAnotherFileFails() {
    assertThat(judge("If-Match", "\"a-1\"")).isEqualTo(SEND);
    assertThat(judge("If-Match", "W/\"a-1\"")).isEqualTo(PRECONDITION_FAILED);
    assertThat(judge("If-Match", "\"x\"")).isEqualTo(PRECONDITION_FAILED);
    assertThat(judge("If-Unmodified-Since", date(-1))).isEqualTo(PRECONDITION_FAILED);
    assertThat(judge("If-Unmodified-Since", date(0))).isEqualTo(SEND);
  }

  @Test
  void aRangeCountsIfItsConditionHolds() {
    assertThat(range("Range", "bytes=0-9").length()).isEqualTo(10);
    assertThat(range("Range", "bytes=0-9", "If-Range", "\"a-1\"").length()).isEqualTo(10);
    assertThat(range("Range", "bytes=0-9", "If-Range", date(0)).length()).isEqualTo(10);
    assertThat(range("Range", "bytes=0-9", "If-Range", "\"x\"").length()).isEqualTo(1_000);
    assertThat(range("Range", "bytes=0-1,5-6").kind()).isEqualTo(ByteRange.Outcome.WHOLE);
  }

  private static Verdict judge(String... fields) {
    return FILE.judge(RequestHead.of("GET", "http://h/", fields), NOW);
  }

  private static ByteRange range(String... fields) {
    return FILE.range(RequestHead.of("GET", "http://h/", fields), NOW);
  }

  private static String date(int secondsLater) {
    return HttpDate.format(MODIFIED + secondsLater);
  }

  /** Builds and archives set such times, and a change keeps them. */
  @Test
  void aTimeThatNoChangeCanHaveIsNoValidator() {
    for (long modified : new long[] {-1, 0, 1, 315_532_800, 499_162_500, NOW + 1, 9_300_000_000L}) {
      FileFacts facts = new FileFacts(4, modified, "\"a\"", "text/plain", null, false);
      String date = HttpDate.format(Math.max(0, modified));
      assertThat(facts.head(200, NOW).has(FieldName.LAST_MODIFIED)).as("%d", modified).isFalse();
      assertThat(facts.judge(RequestHead.of("GET", "http://h/", "If-Modified-Since", date), NOW))
          .isEqualTo(SEND);
      assertThat(facts.judge(RequestHead.of("GET", "http://h/", "If-Unmodified-Since", date), NOW))
          .isEqualTo(SEND);
      RequestHead part = RequestHead.of("GET", "http://h/", "Range", "bytes=0-1", "If-Range", date);
      assertThat(facts.range(part, NOW).kind()).isEqualTo(ByteRange.Outcome.WHOLE);
    }
  }
}
