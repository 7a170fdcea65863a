package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RemovedFieldsTest {

  private static final RemovedFields REMOVED = new RemovedFields(List.of("X-User1"));

  /** RFC 9110 §5.6.2: all that a name can have beside letters and digits. */
  @Test
  void everyOctetCountsAsADashButLettersAndDigits() {
    for (char disguise : "!#$%&'*+-.^_`|~".toCharArray()) {
      assertThat(isRemoved("x" + disguise + "USER1")).as("%s", disguise).isTrue();
    }
  }

  @Test
  void otherNamesStay() {
    for (String name : List.of("XaUser1", "X-User2", "X-User.", "X-User", "X-User1-", "-XUser1")) {
      assertThat(isRemoved(name)).as(name).isFalse();
    }
  }

  private static boolean isRemoved(String name) {
    Fields fields = new Fields();
    fields.add(name, "root");
    return REMOVED.includes(fields, 0);
  }
}
