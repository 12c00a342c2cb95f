"""Notices for participants: every sentence in one place, and translatable (R34).

Services raise and return keys; pages and frames turn them into text. None names a system or says
whether the partner is a program.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy, override

NOTICES = {
    # the connection
    "reconnecting": _("Connection lost. Reconnecting; nothing you wrote is lost."),
    "sending": _("Sending"),
    "sent": _("Sent"),
    "not_sent": _("Not sent yet, still trying"),
    "other_tab": _("This conversation is open in a newer tab. You can continue here instead."),
    "we_were_away": _(
        "We were away for a while; that was our fault. Nothing you did is lost, and the time does "
        "not count against anybody: please go on where you were."
    ),
    "busy_for_new": _(
        "The server is busy, so nobody new can begin at the moment. Please reload this page in a "
        "few minutes."
    ),
    "busy": _("The server is busy. Your work is safe. We will retry automatically."),
    # the partner
    "slow": _("Your partner is still thinking."),
    "no_answer": _(
        "Your partner could not answer. You can try once more, or finish now with full pay."
    ),
    "partner_away": _("Your partner may be reconnecting."),
    "partner_left": _(
        "Your partner left. Please rate the conversation so far; you are paid %(pay)s."
    ),
    "optional": _("(optional)"),
    "idle": _("Nobody wrote for a while, so the conversation ended. Please rate it as it is."),
    "looking": _("Looking for a partner. You keep your position in the queue."),
    "found": _("Your partner is here. Are you still there?"),
    "nobody": _("Nobody came. You can leave now with %(pay)s for waiting."),
    "nobody_or_bot": _(
        "Nobody came. You can continue with another kind of partner, or leave now with %(pay)s."
    ),
    "missed": _("You did not answer in time, so your slot went to somebody else."),
    "partner_missed": _("Your partner did not answer. You are first in line for the next one."),
    # care
    "crisis": _(
        "It sounds as if you are going through something very hard. The people behind this "
        "study are no medical service, and they may read this late. If you are in danger, please "
        "call your local emergency number. At findahelpline.com you can find somebody to talk to, "
        "in your country and in confidence. You can go on, or stop at any time."
    ),
    "keeps_ids": _("The id you came with is deleted %(days)s days after the study has ended."),
    "keeps_words": _(
        "What you write and answer is deleted %(days)s days after the study has ended."
    ),
    # the study
    "full": _("The study is full. Thank you for coming; please return the task. No pay is due."),
    "crowded": _(
        "All places are taken at the moment, but some people have not begun yet. If you agree, "
        "you wait for a place that comes free: usually for minutes, and this wait is not paid."
    ),
    "crowded_wait": _(
        "All places are taken at the moment. You are on the list: as soon as a place comes free it "
        "is yours, and the study begins by itself. Read the instructions meanwhile and keep "
        "this page open. This wait is not paid; you can leave at any time."
    ),
    "kept_chat": _(
        "Your place is yours from your first message on. Before that it may go to somebody who "
        "waits: after %(minutes)s minutes, or after %(sooner)s to somebody who was invited."
    ),
    "kept_form": _(
        "Your place is yours from your first answer on. Before that it may go to somebody who "
        "waits: after %(minutes)s minutes, or after %(sooner)s to somebody who was invited."
    ),
    "unkept_chat": _(
        "Others are waiting for a place in this study. Your first message keeps yours. Time left:"
    ),
    "unkept_form": _(
        "Others are waiting for a place in this study. Your first answer keeps yours. Time left:"
    ),
    # at a panel, where the submission is asked back
    "return_for_bonus": _(
        "Your pay for this study comes as a bonus. Please return the submission."
    ),
    "return_unpaid": _("No pay is due for this submission. Please return it."),
    "not_begun": _(
        "You had not begun, and somebody waited, so your place went to them. You can start again."
    ),
    "paused": _("The study is paused. Please come back later; nothing you did is lost."),
    "ended_early": _("The study ended early. Thank you; here is your code for full pay, %(pay)s."),
    "ended_before": _(
        "The study ended before you had a slot in it. Thank you for coming; please return the "
        "task. No pay is due."
    ),
    "judged_before": _(
        "You judged one of these conversations before, in another study, so you cannot judge them "
        "again. Thank you for that."
    ),
    "took_part": _(
        "You took part in one of the conversations that are judged here, so you cannot judge them. "
        "Thank you for coming; please return the task. No pay is due."
    ),
    "wrote": _(
        "You wrote some of what this study is about, so others have to take part in it. "
        "Thank you for coming; please return the task. No pay is due."
    ),
    "needs_id": _(
        "This link lacks the id you were invited with, which this study needs. Please open it "
        "again where you found it."
    ),
    "other_phase": _(
        "You took part in another part of this study, so others have to take part in this one. "
        "Thank you for coming; please return the task. No pay is due."
    ),
    "claimed": _(
        "Nobody can begin here with this link. If you have begun before, go on in the browser that "
        "you used then, or with your private link."
    ),
    "placeholder": _(
        "The link that you came by has a placeholder where your id should be, so nobody can begin "
        "by it. Please tell whoever gave it to you, or write to the contact below."
    ),
    "invitation_expired": _(
        "This invitation has expired. Please ask the contact below for a new one."
    ),
    "other_platform": _(
        "This study is for people who come by another link. Please open it where you found it."
    ),
    "over": _("The study is over. It takes no new participants."),
    "pay_changed": _(
        "The pay was changed after you opened this page. It now shows what you would be paid; "
        "please read it again before you decide."
    ),
    "submitted": _("You have already submitted. This is your code."),
    "bad_link": _(
        "This link is wrong or no longer valid. Please open the task again where you found it."
    ),
    "left": _(
        "Nothing came from you for more than 30 minutes, so your slot went to somebody else."
    ),
    "left_paid": _(
        "Nothing came from you for more than 30 minutes. You are paid %(pay)s for what is done."
    ),
    "left_owed": _(
        "Nothing came from you for more than 30 minutes, and the study has since filled up or "
        "ended. What you did is paid as if you had stopped then: you can have a code for %(pay)s."
    ),
    "next_conversation": _(
        "Your answers are saved. Next is conversation %(number)d of up to %(most)d, with another "
        "partner. So far you have earned %(pay)s."
    ),
    "failed": _("We could not continue, and it is our fault. You are paid in full, %(pay)s."),
    "completed": _("Thank you! You have finished and are paid %(pay)s."),
    "pay_held": _(
        "Your code is valid. Somebody looks at the payment before it is made, by %(until)s at the "
        "latest; then it is made by itself. You need not do anything."
    ),
    "pay_refused": _(
        "Whoever runs the study has refused the payment: %(reason)s If you do not agree, write to "
        "%(contact)s."
    ),
    "quit": _("You stopped. Thank you for what you did; you are paid %(pay)s."),
    "quit_unpaid": _(
        "You stopped before there was enough for pay, so none is due. The same link lets you come "
        "back, and what you did still counts."
    ),
    "waited": _("Thank you for waiting. You are paid %(pay)s for it."),
    "screened_out": _(
        "Thank you for your answers. By them you are not among the people this study is for; that "
        "is nothing against you. You are paid %(pay)s for them."
    ),
    "screened_out_unpaid": _(
        "Thank you for your answers. By them you are not among the people this study is for; that "
        "is nothing against you. Please return the task; as the first page said, no pay is due."
    ),
    "check_failed": _(
        "Thank you for trying. The check that the first page told of was not passed, so the study "
        "ends here for you. You are paid %(pay)s."
    ),
    "check_failed_unpaid": _(
        "Thank you for trying. The check that the first page told of was not passed, so the study "
        "ends here for you. Please return the task; as the first page said, no pay is due."
    ),
    "declined": _("You did not start, so no pay is due. The same link lets you come back."),
    "away": _("You were away, so your partner went on without you. You can start again."),
    "withdrawn": _("What you wrote has been deleted. Your pay does not change."),
    "wrong_answer": _("This answer is not right; please read the instructions again."),
    "tries_left": _("Not everything is right yet. Please correct what is marked."),
    "last_try": _("Not everything is right yet. This is your last try; please read carefully."),
    # what may keep people from the work, said before consent
    "first_questions": _(
        "First there are some questions about you. If your answers show that the study is for "
        "other people, it ends there for you, and %(pays)s."
    ),
    "first_quiz": _(
        "There is a short quiz about the instructions, which you can try up to %(tries)d times. If "
        "it is not passed the study ends there for you, and %(pays)s."
    ),
    "first_quiz_once": _(
        "There is a short quiz about the instructions, which you can try once. If it is not "
        "passed the study ends there for you, and %(pays)s."
    ),
    "first_items": _(
        "The first %(items)d things that you judge have known answers. If too few of yours agree "
        "the study ends there for you, and %(pays)s, or for what is done where that is more."
    ),
    "attention_ends": _(
        "Some forms have an attention check: a question that says itself what to answer. If you "
        "answer %(wrong)d or more of them otherwise the study ends there for you, and %(pays)s, or "
        "for what is done where that is more."
    ),
    "attention_marks": _(
        "Some forms have an attention check: a question that says itself what to answer. Your pay "
        "does not depend on it. If you answer %(wrong)d or more of them otherwise, your answers "
        "may be left out of the results."
    ),
    "pays_screening": _("you are paid %(pay)s"),
    "pays_nothing": _("no pay is due"),
    # in a chat service, where there is no page
    "service_agree": _("I agree and begin"),
    "service_minutes": ngettext_lazy("About %(minutes)s min", "About %(minutes)s min", "minutes"),
    "service_minutes_each": ngettext_lazy(
        "About %(minutes)s min per conversation",
        "About %(minutes)s min per conversation",
        "minutes",
    ),
    "service_most": _("You may have up to %(most)s conversations, each with another partner."),
    "service_pay": _("Pay %(pay)s"),
    "service_pay_each": _("Pay %(pay)s each"),
    "service_hourly": _("That is %(hourly)s per hour."),
    "service_volunteer": _("You take part as a volunteer."),
    "service_upset": _(
        "Conversations can turn out odd, rude or upsetting. Send /stop at any time to leave."
    ),
    "service_unfit": _("This study cannot be done here. Please open its link in a browser."),
    "service_character": _("Your character:"),
    "service_begin": _(
        "Write your first message. /end ends the conversation, /stop leaves the study."
    ),
    "service_problem": _(
        "Is something broken, upsetting or unfair? Send /problem and what happened: the people who "
        "run this study read it, your partner does not."
    ),
    "service_reported": _("Thank you. The people who run this study have your report."),
    "service_chatting": _("Your conversation goes on: write a message, or /end."),
    "service_ready": _("You can begin."),
    "service_start": _("Begin"),
    "service_press": _("Please press one of the buttons."),
    "service_skip": _("Skip"),
    "service_not_now": _("That cannot be done at this step."),
    "service_code": _("Your code:"),
    "service_delete": _("Send /delete to have what you wrote deleted. Questions: %(contact)s"),
    "service_stop_ask": _("Stop now?"),
    "service_stop_button": _("Yes, stop here"),
    "service_delete_ask": _("Delete all that you wrote? Your pay does not change."),
    "service_delete_button": _("Delete it"),
    # what stopping now would mean
    "stop_paid": _("You end the study here and are paid %(pay)s."),
    "stop_unpaid": _("You end the study here. There is not enough for pay yet, so none is due."),
    "stop_waited": _("You leave the study and are paid %(pay)s for waiting."),
    "stop_not_begun": _(
        "You leave the study. You have not begun, so no pay is due; please return the task."
    ),
    # a message or an action that is refused
    "not_your_turn": _("Please wait for your partner's message first."),
    "empty": _("Please write a message first."),
    "too_long": _("This message has more than %(limit)s characters. Please shorten it."),
    "bad_text": _("This message has characters that cannot be stored. Please type it again."),
    "report_empty": _("Please write what happened."),
    "report_long": _(
        "Your report has %(count)s characters; at most %(limit)s can be sent. Please shorten it."
    ),
    "report_many": _(
        "You have sent %(most)s reports, and more cannot be sent here. Please write to the contact "
        "address below."
    ),
    "not_now": _("That cannot be done at this step. The page shows what comes next."),
    "too_few": ngettext_lazy(
        "Please continue: %(count)s more message is needed before you can finish.",
        "Please continue: %(count)s more messages are needed before you can finish.",
        "count",
    ),
    "unlabeled": _("Please label every message of your partner before you finish."),
    "used_id": _("This was already sent with different text. Nothing was changed."),
    "too_many": _(
        "Very many people came in this minute. Please wait a minute and try again; nothing you did "
        "is lost."
    ),
    "too_fast": _("That was very fast. Please wait a moment and send it again."),
    "bad_frame": _("Your browser sent something we could not read. Please reload the page."),
    "locked": _("“Specific” can only be answered after “sensible: yes”."),
    "changed_elsewhere": _("This answer was changed in another tab. The newer one is kept."),
}


# Sentences for people who take part without pay, in place of those with the same key.
UNPAID = {
    "partner_left": _("Your partner left. Please rate the conversation so far."),
    "next_conversation": _(
        "Your answers are saved. Next is conversation %(number)d of up to %(most)d, with another "
        "partner."
    ),
    "completed": _("Thank you! You have finished."),
    "failed": _("We could not continue, and it is our fault. Thank you for what you did."),
    "ended_early": _("The study ended early. Thank you for what you did."),
    "ended_before": _("The study ended before you had a slot in it. Thank you for coming."),
    "quit": _("You stopped. Thank you for what you did."),
    "quit_unpaid": _(
        "You stopped. The same link lets you come back, and what you did still counts."
    ),
    "declined": _("You did not start. The same link lets you come back."),
    "left_paid": _("Nothing came from you for more than 30 minutes. What you did still counts."),
    "stop_paid": _("You end the study here."),
    "stop_unpaid": _("You end the study here."),
    "stop_not_begun": _("You leave the study. You have not begun."),
}


def text(key: str, **values: object) -> str:
    """Return the sentence of a key with its values filled in; `pay` is "" for the unpaid."""
    sentence = UNPAID.get(key, NOTICES[key]) if values.get("pay") == "" else NOTICES[key]
    return sentence % values if values else str(sentence)


def text_in(language: str, key: str, **values: object) -> str:
    """Return the sentence in a language, whichever is active."""
    with override(language):
        return text(key, **values)


# --- the rule of stopping, by what a campaign chose: in a chat, and where replies are judged

# What participants do, above the offer on the first page: by protocols.task_of.
TASKS = {
    "chat": _("You chat with a partner about anything you like."),
    "persona_chat": _("You chat with a partner, each of you as a person who is described."),
    "sheet_chat": _("You chat with a partner. Each of you gets a sheet that says who you are."),
    "rated_chat": _("You chat with a partner and tell us what it was like."),
    "write": _("You write a few sentences, which the study then uses."),
    "reply": _("You read short conversations and tell us what the last message of each is like."),
    "reply_pairs": _("You read short conversations, each with several replies, and compare these."),
    "text": _("You read short texts and tell us what each is like."),
    "text_pairs": _("You read short texts, several at a time, and compare them."),
    "messages": _("You read conversations of others and judge them message by message."),
    "conversation": _("You read conversations of others and tell us what each was like."),
    "speakers": _("You read conversations of others and compare who speaks in them."),
}

EACH_STOPS = _(
    "This holds for each conversation by itself; those that you have finished are paid in full."
)
CHAT_STOPS = {
    "SHARE": _(
        "If you stop early you are paid for what is done: the conversation needs %(minimum)s "
        "messages, your partner's and yours together, and each earns its share of %(pay)s. A part "
        "of a cent is rounded up."
    ),
    "FULL": _("If you stop early you are paid in full, %(pay)s."),
    "MINIMUM": _(
        "If you stop before the conversation has %(minimum)s messages, your partner's and yours "
        "together, you are paid nothing; from then on you are paid in full, %(pay)s."
    ),
    "least": ngettext_lazy(
        "Nothing is paid below %(least)s message, or before you have written one.",
        "Nothing is paid below %(least)s messages, or before you have written one.",
        "least",
    ),
    "one": _("Nothing is paid before you have written a message."),
}
REPLY_STOPS = {
    "SHARE": _(
        "If you stop early you are paid for what is done: each reply that you are assigned "
        "earns its share of %(pay)s. A part of a cent is rounded up."
    ),
    "FULL": CHAT_STOPS["FULL"],
    "MINIMUM": _("If you stop before you have judged all replies you are paid nothing."),
    "least": ngettext_lazy(
        "Nothing is paid below %(least)s judged reply.",
        "Nothing is paid below %(least)s judged replies.",
        "least",
    ),
    "one": _("Nothing is paid before you have judged a reply."),
}

WRITE_STOPS = {
    "SHARE": _(
        "If you stop early you are paid for what is done: each task that you are assigned and "
        "have sent in whole earns its share of %(pay)s. A part of a cent is rounded up."
    ),
    "FULL": CHAT_STOPS["FULL"],
    "MINIMUM": _("If you stop before you have sent in every task you are paid nothing."),
    "least": _("Nothing is paid below %(least)s tasks."),
    "one": _("Nothing is paid before you have sent in a task."),
}


# --- words of the scripts: {names} are filled in by the page

WAITING_WORDS = {
    "here": _("Your partner is here"),
    "any_time": _("now"),
}
CHAT_WORDS = {
    "you": _("You"),
    "partner": _("Your partner"),
    "typing": _("Your partner is writing"),
    "labels": _("What do you think of this message?"),
    "answer_first": _("after “yes” above"),
    "to_go": _("{done} of {minimum} messages, {left} to go"),
    "enough": _("{done} messages: enough to finish"),
    "full": _("{done} messages: that is all"),
    "word_count": _("{count} words"),
    "word_limit": _("{count} of at most {limit} words"),
    "character_limit": _("{count} of at most {limit} characters"),
    "label_missing": _("Label {count} more to finish"),
    "no_second_try": _("Your partner could not answer. Please finish now with full pay."),
}


def words(kinds: Mapping[str, Promise], *keys: str, **values: object) -> dict[str, str]:
    """Return the words of a script, and the notices that it shows by itself."""
    own = {name: str(word) for name, word in kinds.items()}
    return own | {key: text(key, **values) for key in keys}
