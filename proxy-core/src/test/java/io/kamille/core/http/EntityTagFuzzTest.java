package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.FuzzBudget;
import io.kamille.core.h1.Spoiler;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Lists of entity tags, sound and spoiled, beside a regular expression (RFC 9110 §8.8.3). */
class EntityTagFuzzTest {

  private static final int ROUNDS = 40_000;
  private static final String OPAQUE = "\"[!#-~\u0080-\u00ff]*\"";
  private static final Pattern TAG = Pattern.compile("(?:W/)?" + OPAQUE);

  /** Blanks and commas, then a tag, or something with a tag at its beginning, or anything else. */
  private static final Pattern MEMBER =
      Pattern.compile(
          "[ \t,]*+(?:(?:W/)?(" + OPAQUE + ")[ \t]*+(?=,|$)|(?:W/)?" + OPAQUE + "[^,]*|[^,]+)",
          Pattern.DOTALL);

  private static final List<String> SOUND =
      List.of("\"a\"", "W/\"a\"", "\"a\", W/\"b\"", "\"a,b\" ,\t\"\"", "W/\"W/\",\"\u00fc\"");
  private static final List<String> WORDS =
      List.of(
          "\"", "\"", "W/", "W", "/", "w/", ",", ", ", " ", "\t", "a", "b", "\"a\"", "*", "\u00fc",
          "\u007f", "\\", "\\\"");

  private final SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
  private final Spoiler spoiler = new Spoiler(random, SOUND, WORDS);

  @Test
  void aTagIsFoundInAListWhereItIsAMember() {
    String[] tags = {"\"a\"", "W/\"a\"", "\"b\"", "\"\"", "\"a,b\"", "W/\"W/\"", "\"\u00fc\""};
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String list = spoiler.next();
      String tag = tags[random.nextInt(tags.length)];
      byte[] octets = Fields.octetsOf("\"" + list + "\"a\"");
      assertThat(EntityTag.listMatchesWeakly(octets, 1, octets.length - 3, tag))
          .as("seed %d: %s in '%s'", FuzzBudget.SEED, tag, list)
          .isEqualTo(isMember(tag.substring(tag.indexOf('"')), list));
    }
    budget.report("lists of entity tags");
  }

  private static boolean isMember(String opaque, String list) {
    Matcher members = MEMBER.matcher(list);
    for (int at = 0; members.region(at, list.length()).lookingAt(); at = members.end()) {
      if (opaque.equals(members.group(1))) {
        return true;
      }
    }
    return false;
  }

  @Test
  void oneTagAndNothingElseIsValid() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String text = spoiler.next();
      assertThat(EntityTag.isValid(text))
          .as("seed %d: '%s'", FuzzBudget.SEED, text)
          .isEqualTo(TAG.matcher(text).matches());
    }
    budget.report("entity tags");
  }
}
