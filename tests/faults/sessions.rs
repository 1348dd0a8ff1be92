//! Sessions that cannot be created, changed or imported.

use std::convert::Infallible;

use futures::stream;
use opencode_runtime::{CreateSession, ImportChoices};
use opencode_schema::id::SessionID;
use opencode_schema::location::LocationRef;
use opencode_schema::model::ModelRef;
use opencode_testkit::Reply;
use opencode_tests::export;

use crate::disturbance::{FAULTS, Scene, places};

#[tokio::test]
async fn a_session_that_cannot_be_stored_does_not_exist_and_can_be_created_again() {
    for fault in FAULTS {
        for place in places("session.created") {
            let mut scene = Scene::open().await;
            let other = scene.session_with_prompt().await;
            let id = SessionID::parse("ses_refused").unwrap();
            let request = CreateSession {
                id: Some(id.clone()),
                ..scene.f.new_session()
            };
            scene.arm(place, fault);
            let refused = scene.f.runtime().create_session(request.clone()).await;
            scene.assert_refused(refused, fault);
            assert!(scene.f.runtime().session(&id).await.is_err());
            scene.recover(&other, fault).await;
            assert_eq!(scene.f.create(request).await.id, id);
        }
    }
}

#[tokio::test]
async fn a_switch_that_cannot_be_stored_changes_nothing() {
    let model = ModelRef {
        id: "m2".to_owned(),
        provider_id: "mock".to_owned(),
        variant: None,
    };
    for fault in FAULTS {
        for place in places("model.switched") {
            let mut scene = Scene::open().await;
            let session = scene.session_with_prompt().await;
            let before = scene.f.info(&session).await;
            scene.arm(place, fault);
            let refused = scene.f.runtime().switch_model(&session, model.clone());
            scene.assert_refused(refused.await, fault);
            scene.recover(&session, fault).await;
            assert_eq!(scene.f.info(&session).await, before);
        }
        for place in places("agent.switched") {
            let mut scene = Scene::open().await;
            let session = scene.session_with_prompt().await;
            let before = scene.f.info(&session).await;
            scene.arm(place, fault);
            let refused = scene.f.runtime().switch_agent(&session, "plan".to_owned());
            scene.assert_refused(refused.await, fault);
            scene.recover(&session, fault).await;
            assert_eq!(scene.f.info(&session).await, before);
        }
    }
}

#[tokio::test]
async fn a_move_that_cannot_be_stored_does_not_happen() {
    for fault in FAULTS {
        for place in places("moved") {
            let mut scene = Scene::open().await;
            let session = scene.session_with_prompt().await;
            let before = scene.f.info(&session).await;
            let destination = LocationRef {
                directory: format!("{}/below", scene.f.project.directory()),
                workspace_id: None,
            };
            scene.arm(place, fault);
            let refused = scene.f.runtime().move_session(&session, destination);
            scene.assert_refused(refused.await, fault);
            scene.recover(&session, fault).await;
            assert_eq!(scene.f.info(&session).await, before);
        }
    }
}

/// If an import fails at any event of the log, no part of the log is stored.
#[tokio::test]
async fn an_import_that_cannot_be_stored_leaves_nothing() {
    let places = places("session.created").into_iter();
    let places: Vec<_> = places.chain(places_of_the_end()).collect();
    for fault in FAULTS {
        for place in &places {
            let mut scene = Scene::open().await;
            let session = scene.session_with_prompt().await;
            scene.f.model.reply(Reply::says("Hello."));
            scene.f.run(&session).await;
            let lines = export::lines(scene.f.runtime(), &session).await.unwrap();
            let copy: Vec<_> = lines
                .iter()
                .map(|line| export::renamed(line, "-x"))
                .collect();
            let id = SessionID::parse(&format!("{session}-x")).unwrap();
            let import = || stream::iter(copy.clone().into_iter().map(Ok::<_, Infallible>));
            scene.arm(*place, fault);
            let refused = scene
                .f
                .runtime()
                .import(import(), ImportChoices::default())
                .await;
            scene.assert_refused(refused, fault);
            assert!(scene.f.runtime().session(&id).await.is_err());
            scene.recover(&session, fault).await;
            let imported = scene
                .f
                .runtime()
                .import(import(), ImportChoices::default())
                .await
                .unwrap();
            assert_eq!(
                (imported.applied, imported.skipped),
                (copy.len() as u64 - 1, 0)
            );
            assert_eq!(export::lines(scene.f.runtime(), &id).await.unwrap(), copy);
        }
    }
}

fn places_of_the_end() -> impl Iterator<Item = crate::disturbance::Place> {
    places("step.ended").into_iter().skip(1)
}
