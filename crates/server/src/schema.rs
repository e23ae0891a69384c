//! One JSON schema for all message types, from which the types of the pages are generated.

use crate::{film, home, info, learn, party, refusal, tables, tournaments};
use necrodome_rules::{catalog::GameId, game::Game, last_bullet, with_game, zombie_dice};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// Returns the schema of all messages between the server and its pages.
pub fn api() -> Value {
    let mut sent = SchemaSettings::draft07().for_serialize().into_generator();
    add::<film::Film>(&mut sent);
    add::<film::last_bullet::BattleFilm>(&mut sent);
    add::<film::DiceScene<zombie_dice::TableView>>(&mut sent);
    add::<film::DiceScene<zombie_dice::RaceView>>(&mut sent);
    add::<film::DiceScene<zombie_dice::SoloView>>(&mut sent);
    add::<film::InfectionScene>(&mut sent);
    // What the boards of the games draw.
    for id in GameId::ALL {
        with_game!(id, G => {
            add::<<G as Game>::View>(&mut sent);
            add::<<G as Game>::Event>(&mut sent);
            add::<<G as Game>::Action>(&mut sent);
        });
    }
    add::<info::SiteInfo>(&mut sent);
    add::<party::Joined>(&mut sent);
    add::<party::Opened>(&mut sent);
    add::<party::RoomSummary>(&mut sent);
    add::<party::SeatOffer>(&mut sent);
    add::<party::view::JudgeView>(&mut sent);
    add::<party::view::PartyView>(&mut sent);
    add::<home::Home>(&mut sent);
    add::<refusal::Refused>(&mut sent);
    add::<learn::Advice>(&mut sent);
    add::<learn::Stopping>(&mut sent);
    add::<learn::Thumbs>(&mut sent);
    add::<tables::PlayInfo>(&mut sent);
    add::<tables::TableState>(&mut sent);
    add::<learn::Exercise>(&mut sent);
    add::<tournaments::MatchLogs>(&mut sent);
    add::<tournaments::MatchPage>(&mut sent);
    add::<tournaments::MomentList>(&mut sent);
    add::<tournaments::TournamentList>(&mut sent);
    add::<tournaments::TournamentStarted>(&mut sent);
    add::<tournaments::TournamentView>(&mut sent);

    let mut received = SchemaSettings::draft07().for_deserialize().into_generator();
    add::<last_bullet::Order>(&mut received);
    add::<party::HostOrder>(&mut received);
    add::<party::JoinRoom>(&mut received);
    add::<party::OpenRoom>(&mut received);
    add::<party::SeatAction>(&mut received);
    add::<learn::AdviseOn>(&mut received);
    add::<tables::ActAtTable>(&mut received);
    add::<tables::JoinTable>(&mut received);
    add::<tables::NewTable>(&mut received);
    add::<tables::ReplaceAtTable>(&mut received);
    add::<tournaments::NewTournament>(&mut received);

    // What goes both ways is described as it is sent.
    let mut all: Map<String, Value> = received.take_definitions(true);
    all.extend(sent.take_definitions(true));
    json!({ "$schema": "http://json-schema.org/draft-07/schema#", "title": "Api", "definitions": all })
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::Path};

    /// `UPDATE_SCHEMA=1 cargo test -p necrodome-server schema` writes the schema again.
    #[test]
    fn the_schema_of_the_pages_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/api.schema.json");
        let text = serde_json::to_string_pretty(&super::api()).unwrap() + "\n";
        if env::var_os("UPDATE_SCHEMA").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == text,
            "web/api.schema.json is old: UPDATE_SCHEMA=1 cargo test -p necrodome-server schema"
        );
    }
}
