"""The diagnoses of `sample:hospital`; `hospital` draws the patients.

Codes are those of ICD-10-CM, names are short and in our own words. Within a category, codes are in order of frequency. The line before
them gives the weight of the category for children, young, middle-aged and older adults, and then, if it applies, `women` or `men`, and
`winter` or `summer` if it is three times as frequent then. A leading `!` marks a sensitive diagnosis.
"""

from __future__ import annotations

from dataclasses import dataclass

STAGES = ("child", "young", "middle-aged", "older")
"""Stages of life, for which each category has a weight."""
SEASONAL = 3.0
"""How much more frequent the diagnoses of a season are in it."""

_CHAPTERS: dict[str, dict[str, str]] = {
    "infections": {
        "intestinal infections": """4 1.5 1 1.5 summer
            A09 intestinal infection, likely infectious
            A08.4 viral intestinal infection
            A04.72 Clostridioides difficile
            A02.0 Salmonella enteritis
            A07.1 giardiasis""",
        "sepsis and germs": """0.7 0.6 2 5
            A41.9 sepsis
            B96.20 E. coli as the cause
            A41.51 sepsis from E. coli
            B95.61 Staphylococcus aureus as the cause
            B95.62 resistant Staphylococcus aureus as the cause
            A46 erysipelas
            A49.9 bacterial infection
            B37.0 thrush of the mouth""",
        "viral infections": """4 1.2 0.8 1 winter
            B34.9 viral infection
            B02.9 shingles
            B27.90 glandular fever
            B01.9 chickenpox
            B08.4 hand, foot and mouth disease
            B07.9 viral wart""",
        "sexually transmitted infections": """0 1 0.3 0.05
            !A56.00 chlamydia
            !A54.9 gonorrhoea
            !A60.00 genital herpes
            !A63.0 genital warts
            !A53.9 syphilis
            !A59.00 trichomoniasis""",
        "HIV and hepatitis": """0.02 0.5 0.9 0.3
            !B18.2 chronic hepatitis C
            !B20 HIV disease
            !B18.1 chronic hepatitis B
            !B17.10 acute hepatitis C""",
    },
    "tumours": {
        "breast and female organs": """0 0.4 1.6 1.4 women
            C50.912 breast cancer, left
            C50.911 breast cancer, right
            D25.9 fibroid of the womb
            C54.1 cancer of the womb lining
            C56.9 ovarian cancer
            C53.9 cervical cancer""",
        "prostate and urinary tract": """0 0.1 0.9 2 men
            C61 prostate cancer
            C67.9 bladder cancer
            C64.9 kidney cancer
            C62.90 testicular cancer""",
        "lung and bowel": """0 0.1 1.3 2.2
            C18.9 colon cancer
            C34.90 lung cancer
            C20 rectal cancer
            D12.6 colon polyp
            C25.9 pancreatic cancer
            C16.9 stomach cancer""",
        "blood and lymph": """0.4 0.3 0.6 1
            C90.00 multiple myeloma
            C85.90 non-Hodgkin lymphoma
            C91.10 chronic lymphocytic leukaemia
            C81.90 Hodgkin lymphoma
            C91.00 acute lymphoblastic leukaemia""",
        "skin and secondary": """0 0.2 1 2
            C44.91 basal cell skin cancer
            C78.7 spread to the liver
            C79.51 spread to bone
            C78.00 spread to the lung
            C77.9 spread to lymph nodes
            C43.9 melanoma
            C79.31 spread to the brain""",
    },
    "blood": {
        "anaemia": """1.5 1.5 3 6
            D64.9 anaemia
            D50.9 iron deficiency anaemia
            D62 anaemia after acute blood loss
            D63.1 anaemia in chronic kidney disease
            D51.9 vitamin B12 deficiency anaemia
            D57.1 sickle-cell disease""",
        "clotting and cells": """0.7 0.7 1.2 2
            D69.6 low platelets
            D72.829 high white cell count
            D70.9 low neutrophils
            D68.9 clotting disorder
            D68.51 factor V Leiden""",
    },
    "endocrine and metabolic": {
        "diabetes": """0.5 1 6 9
            E11.9 type 2 diabetes
            E11.65 type 2 diabetes with high sugar
            E11.22 type 2 diabetes with kidney disease
            E11.40 type 2 diabetes with nerve damage
            E11.42 type 2 diabetes with polyneuropathy
            E10.9 type 1 diabetes
            E11.51 type 2 diabetes with poor circulation
            E11.319 type 2 diabetes with eye disease
            E11.621 type 2 diabetes with foot ulcer
            E10.10 type 1 diabetes with ketoacidosis""",
        "lipids and weight": """0.5 1.5 7 9
            E78.5 high blood lipids
            E66.9 obesity
            E78.00 high cholesterol
            E66.01 severe obesity
            E78.2 mixed high blood lipids
            E78.1 high triglycerides""",
        "thyroid and hormones": """0.3 1 2 3
            E03.9 underactive thyroid
            E05.90 overactive thyroid
            E04.1 thyroid nodule
            E06.3 autoimmune thyroiditis
            E27.40 adrenal insufficiency""",
        "fluids and nutrition": """1.5 1.2 3.5 7
            E87.6 low potassium
            E86.0 dehydration
            E87.1 low sodium
            E87.5 high potassium
            E55.9 vitamin D deficiency
            E83.42 low magnesium
            E87.20 acidosis
            E43 severe malnutrition
            E46 malnutrition""",
    },
    "mental health": {
        "depression and anxiety": """0.6 3.5 3.5 2.5
            !F32.A depression
            !F41.9 anxiety disorder
            !F33.1 recurrent depression
            !F41.1 generalized anxiety
            !F32.9 single depressive episode
            !F43.23 adjustment disorder
            !F43.10 post-traumatic stress
            !F41.0 panic disorder
            !F42.9 obsessive-compulsive disorder""",
        "psychosis and bipolar": """0.03 0.7 0.7 0.3
            !F31.9 bipolar disorder
            !F20.9 schizophrenia
            !F25.9 schizoaffective disorder
            !F29 psychosis
            !F60.3 borderline personality disorder""",
        "alcohol and drugs": """0.05 1.7 1.8 0.5
            !F10.20 alcohol dependence
            !F10.10 harmful use of alcohol
            !F11.20 opioid dependence
            !F10.239 alcohol withdrawal
            !F12.10 harmful use of cannabis
            !F14.10 harmful use of cocaine
            !F15.20 stimulant dependence
            !F19.10 harmful use of several substances""",
        "tobacco": """0 3.5 5 3
            F17.210 nicotine dependence, cigarettes
            F17.200 nicotine dependence
            F17.290 nicotine dependence, other products""",
        "dementia and delirium": """0 0 0.3 5
            F03.90 dementia
            F05 delirium
            F01.50 vascular dementia""",
        "development": """2 0.6 0.1 0.02
            F90.9 attention deficit
            F84.0 autism
            F80.9 speech delay
            F81.9 learning disorder
            !F50.00 anorexia nervosa
            !F64.0 gender incongruence""",
    },
    "nerves": {
        "sleep and pain": """0.4 2 4 4
            G47.33 sleep apnoea
            G89.29 chronic pain
            G43.909 migraine
            G47.00 insomnia
            G89.18 pain after surgery
            G62.9 polyneuropathy""",
        "epilepsy and movement": """1.2 0.8 1 2
            G40.909 epilepsy
            G20.A1 Parkinson's disease
            G25.81 restless legs
            G35.D multiple sclerosis
            G80.9 cerebral palsy
            G25.0 essential tremor""",
        "brain and dementia": """0.2 0.2 0.7 3
            G93.41 metabolic brain disorder
            G30.9 Alzheimer's disease
            G45.9 transient ischaemic attack
            G81.94 paralysis of the left side
            G81.91 paralysis of the right side
            G91.9 hydrocephalus""",
    },
    "eyes": {
        "cataract and sight": """1 0.4 0.7 2.5
            H26.9 cataract
            H40.9 glaucoma
            H35.30 macular degeneration
            H10.9 conjunctivitis
            H54.7 impaired vision""",
    },
    "ears": {
        "hearing and balance": """4 0.5 0.7 2.5
            H66.90 middle ear infection
            H91.90 hearing loss
            H61.20 impacted ear wax
            H81.10 positional vertigo
            H93.19 tinnitus""",
    },
    "circulation": {
        "high blood pressure": """0.05 2 16 26
            I10 high blood pressure
            I12.9 high blood pressure with kidney disease
            I11.0 high blood pressure with heart failure
            I13.0 high blood pressure with heart and kidney disease
            I16.0 hypertensive urgency
            I15.9 secondary high blood pressure""",
        "coronary disease": """0 0.2 5 9
            I25.10 coronary heart disease
            I21.4 heart attack (NSTEMI)
            I25.2 old heart attack
            I20.9 angina
            I21.3 heart attack (STEMI)
            I25.5 ischaemic cardiomyopathy
            I20.0 unstable angina""",
        "rhythm": """0.2 0.5 2.5 8
            I48.91 atrial fibrillation
            I48.0 paroxysmal atrial fibrillation
            I48.20 chronic atrial fibrillation
            I47.10 supraventricular tachycardia
            I49.9 irregular heartbeat
            I44.2 complete heart block
            I46.9 cardiac arrest""",
        "heart failure and valves": """0.1 0.2 2.5 9
            I50.9 heart failure
            I50.32 chronic diastolic heart failure
            I50.22 chronic systolic heart failure
            I35.0 narrowed aortic valve
            I50.33 acute on chronic diastolic heart failure
            I34.0 leaking mitral valve
            I42.9 cardiomyopathy
            I27.20 pulmonary hypertension""",
        "stroke": """0 0.2 1.2 4
            I63.9 stroke
            I69.354 weakness after a stroke, left
            I69.351 weakness after a stroke, right
            I61.9 bleeding in the brain
            I65.29 narrowed carotid artery
            I67.9 disease of brain vessels""",
        "vessels and clots": """0 0.8 1.8 4
            I73.9 poor circulation in the legs
            I95.9 low blood pressure
            I26.99 pulmonary embolism
            I82.409 deep vein thrombosis
            I70.0 hardened aorta
            I71.40 aneurysm of the aorta
            I83.90 varicose veins
            I87.2 venous insufficiency""",
    },
    "breathing": {
        "colds and throat": """9 2.5 1.2 0.8 winter
            J06.9 infection of the upper airways
            J02.9 sore throat
            J01.90 sinusitis
            J03.90 tonsillitis
            J05.0 croup
            J35.1 large tonsils
            J30.9 allergic rhinitis""",
        "flu and pneumonia": """4 1.2 2.5 6 winter
            J18.9 pneumonia
            J10.1 influenza
            J21.9 bronchiolitis
            J20.9 acute bronchitis
            J15.9 bacterial pneumonia
            J12.82 pneumonia from COVID-19
            J69.0 aspiration pneumonia
            J21.0 bronchiolitis from RSV""",
        "chronic lung disease": """4 2 4 8
            J45.909 asthma
            J44.9 COPD
            J44.1 COPD, getting worse
            J45.901 asthma, getting worse
            J44.0 COPD with infection
            J84.10 lung fibrosis
            J43.9 emphysema
            J47.9 bronchiectasis""",
        "respiratory failure": """1 0.4 1.5 5 winter
            J96.01 acute respiratory failure, low oxygen
            J96.11 chronic respiratory failure
            J90 fluid around the lung
            J98.11 collapsed lung tissue
            J81.0 fluid in the lung
            J93.9 pneumothorax""",
    },
    "digestion": {
        "reflux and stomach": """1.5 2.5 5 6
            K21.9 reflux
            K29.70 gastritis
            K31.84 slow stomach
            K44.9 hiatal hernia
            K25.9 stomach ulcer
            K27.9 peptic ulcer
            K22.70 Barrett's oesophagus""",
        "bowel": """4 2.5 3 5
            K59.00 constipation
            K57.30 diverticula
            K92.2 bleeding in the gut
            K56.609 bowel obstruction
            K35.80 appendicitis
            K50.90 Crohn's disease
            K51.90 ulcerative colitis
            K58.9 irritable bowel
            K40.90 hernia of the groin
            K64.9 haemorrhoids
            K62.5 rectal bleeding""",
        "liver and bile": """0.2 1.2 2.2 2
            K80.20 gallstones
            K76.0 fatty liver
            K74.60 cirrhosis
            K81.0 inflamed gallbladder
            K85.90 pancreatitis
            K70.30 cirrhosis from alcohol
            K76.6 portal hypertension""",
        "teeth": """1.5 0.8 0.5 0.4
            K02.9 tooth decay
            K04.7 abscess of a tooth
            K08.9 disease of teeth""",
    },
    "skin": {
        "skin infections": """2 1.5 1.5 2 summer
            L03.90 cellulitis
            L03.115 cellulitis of the right leg
            L03.116 cellulitis of the left leg
            L02.91 abscess
            L08.9 skin infection
            L01.00 impetigo""",
        "rashes and ulcers": """3 1 0.8 2.5
            L30.9 eczema
            L89.159 pressure ulcer of the lower back
            L40.9 psoriasis
            L20.9 atopic eczema
            L97.509 foot ulcer
            L50.9 hives
            L70.0 acne
            L89.90 pressure ulcer""",
    },
    "bones and muscles": {
        "joints": """0.2 1 4 7
            M17.11 arthrosis of the right knee
            M17.12 arthrosis of the left knee
            M19.90 arthrosis
            M16.11 arthrosis of the right hip
            M16.12 arthrosis of the left hip
            M10.9 gout
            M06.9 rheumatoid arthritis
            M25.561 pain in the right knee""",
        "back": """0.2 2 4 3.5
            M54.50 low back pain
            M54.2 neck pain
            M48.061 narrow lower spinal canal
            M51.26 slipped disc
            M54.16 pinched nerve of the lower back
            M47.816 worn lower spine""",
        "bone and muscle": """0.3 0.8 1.5 4
            M81.0 osteoporosis
            M62.81 weak muscles
            M79.7 fibromyalgia
            M86.9 infection of bone
            M62.82 breakdown of muscle
            M32.9 lupus""",
    },
    "kidneys and sexual organs": {
        "kidney failure": """0.2 0.5 3.5 10
            N17.9 acute kidney failure
            N18.9 chronic kidney disease
            N18.30 chronic kidney disease, stage 3
            N18.6 end-stage kidney disease
            N18.4 chronic kidney disease, stage 4
            N18.2 chronic kidney disease, stage 2
            N28.1 kidney cyst""",
        "urinary tract": """1.5 2 2 5
            N39.0 urinary tract infection
            N20.0 kidney stone
            N10 kidney infection
            N30.90 bladder infection
            N13.30 blocked kidney
            N39.41 urge incontinence""",
        "prostate": """0.1 0.1 1.8 6 men
            N40.1 enlarged prostate with symptoms
            N40.0 enlarged prostate
            N41.9 prostatitis
            !N52.9 erectile dysfunction""",
        "female organs": """0 3 2 0.7 women
            N92.0 heavy periods
            N83.209 ovarian cyst
            N80.9 endometriosis
            N76.0 vaginal infection
            N73.9 pelvic inflammation
            N81.4 prolapse of the womb
            !N97.9 female infertility""",
    },
    "pregnancy and birth": {
        "delivery": """0 9 1.2 0 women
            O80 delivery without complications
            O82 caesarean section
            O70.1 second-degree tear
            O48.0 pregnancy past the due date
            O42.90 early rupture of membranes
            O72.1 bleeding after birth""",
        "pregnancy": """0 6 1 0 women
            O34.211 scar from an earlier caesarean
            O99.820 carrier of streptococcus B in pregnancy
            O24.410 diabetes of pregnancy, by diet
            O13.9 high blood pressure of pregnancy
            O21.0 vomiting in pregnancy
            O14.90 pre-eclampsia
            O26.899 other condition of pregnancy""",
        "pregnancy loss": """0 1.1 0.25 0 women
            !O03.9 miscarriage
            !O02.1 missed abortion
            !O00.90 ectopic pregnancy
            !O04.89 induced abortion with complications""",
    },
    "perinatal": {
        "first days": """5 0 0 0
            P59.9 jaundice of the newborn
            P07.39 preterm newborn
            P22.0 breathing distress of the newborn
            P92.9 feeding problem of the newborn
            P70.4 low sugar of the newborn""",
    },
    "malformations": {
        "from birth": """1.5 0.1 0.1 0.05
            Q21.10 hole between the atria
            Q21.0 hole between the ventricles
            Q90.9 Down syndrome
            Q53.9 undescended testicle
            Q35.9 cleft palate""",
    },
    "symptoms": {
        "chest and breathing": """2 2.5 4 5
            R07.9 chest pain
            R06.02 shortness of breath
            R05.9 cough
            R09.02 low oxygen
            R00.0 fast heartbeat
            R00.1 slow heartbeat""",
        "belly": """3 3 2.5 2.5
            R10.9 belly pain
            R11.2 nausea and vomiting
            R19.7 diarrhoea
            R13.10 difficulty swallowing
            R63.4 loss of weight""",
        "general": """5 2.5 3.5 5
            R50.9 fever
            R55 fainting
            R53.1 weakness
            R53.83 tiredness
            R42 dizziness
            R51.9 headache
            R56.9 convulsion
            R73.9 high blood sugar
            R65.20 severe sepsis
            R65.21 septic shock""",
        "behaviour": """0.05 0.7 0.4 0.1
            !R45.851 thoughts of suicide
            !R44.0 hearing voices""",
    },
    "injuries": {
        "head": """3 1.5 1 1.5 summer
            S09.90XA head injury
            S06.0X0A concussion
            S01.81XA cut on the head
            S02.2XXA broken nose
            S06.5X0A bleeding around the brain""",
        "arms and legs": """4 2.5 1.5 3 summer
            S52.501A broken right wrist
            S52.502A broken left wrist
            S72.001A broken right hip
            S72.002A broken left hip
            S93.401A sprained right ankle
            S42.001A broken right collarbone
            S82.899A broken lower leg
            S61.219A cut finger
            S22.39XA broken rib""",
        "poisoning and complications": """0.8 1 1.2 1.8
            T78.40XA allergic reaction
            T81.49XA infection after surgery
            T40.2X1A poisoning by opioids
            !T42.4X2A self-poisoning with sedatives
            !T74.21XA sexual abuse of an adult
            !T39.1X2A self-poisoning with paracetamol
            !T74.12XA physical abuse of a child""",
    },
    "external causes": {
        "falls and accidents": """3 1.5 1.5 4 summer
            W19.XXXA fall
            W01.0XXA slip on the same level
            W18.30XA fall on the same level
            V89.2XXA traffic accident
            W10.9XXA fall on stairs
            W54.0XXA dog bite""",
        "side effects and places": """0.5 0.6 1.5 3
            Y92.009 at home
            Y83.1 implant as cause of a complication
            Y92.239 in the hospital
            Y92.410 on the street
            Y93.9 during an activity""",
    },
    "status and contacts": {
        "medicines": """0 0.5 5 9
            Z79.01 takes blood thinners
            Z79.4 takes insulin
            Z79.82 takes aspirin
            Z79.899 takes other medicines for long
            Z79.84 takes tablets for diabetes
            Z79.52 takes steroids""",
        "history": """0.3 2 6 9
            Z87.891 used to smoke
            Z86.73 had a stroke
            Z85.3 had breast cancer
            Z86.718 had a thrombosis
            Z85.46 had prostate cancer
            Z90.49 without a part of the gut
            Z88.0 allergic to penicillin""",
        "heart and other devices": """0 0.05 2 6
            Z95.5 has a stent
            Z95.1 has a bypass
            Z95.0 has a pacemaker
            Z96.651 has a right knee joint
            Z99.2 on dialysis
            Z99.81 on oxygen
            Z66 not to be resuscitated
            Z51.5 palliative care""",
        "body weight": """0.4 1 2.5 2
            Z68.41 body mass index 40 to 44.9
            Z68.35 body mass index 35 to 35.9
            Z68.30 body mass index 30 to 30.9
            Z68.1 body mass index below 20""",
        "birth and check-ups": """6 5 0.3 0
            Z38.00 born in the hospital
            Z23 vaccination
            Z37.0 single live birth
            Z3A.39 week 39 of pregnancy
            Z00.129 check-up of a child""",
        "reproductive health": """0 1 0.2 0 women
            !Z33.2 termination of pregnancy
            !Z30.2 sterilization
            !Z31.41 fertility test""",
        "sensitive contacts": """0.03 0.7 0.5 0.2
            !Z59.00 homeless
            !Z72.51 risky sexual behaviour
            !Z21 carries HIV without symptoms
            !Z91.51 harmed themselves before
            !Z65.1 in prison
            !Z20.6 contact with HIV""",
    },
    "special codes": {
        "COVID-19": """1.5 1.5 2 3 winter
            U07.1 COVID-19
            U09.9 long COVID""",
    },
}

COMBINATIONS: dict[tuple[str, ...], tuple[float, float, float, float]] = {
    ("I10", "E11.9", "E78.5"): (0, 0.01, 0.12, 0.1),
    ("E11.22", "N18.30", "I12.9"): (0, 0, 0.03, 0.05),
    ("I13.0", "I50.32", "N18.9", "I48.91"): (0, 0, 0.015, 0.06),
    ("I25.10", "Z95.5", "I25.2", "E78.5"): (0, 0, 0.03, 0.05),
    ("J44.1", "J96.01", "F17.210"): (0, 0, 0.02, 0.04),
    ("N18.6", "Z99.2", "D63.1"): (0, 0.003, 0.015, 0.02),
    ("I48.91", "Z79.01"): (0, 0, 0.02, 0.06),
    ("A41.9", "N39.0", "N17.9"): (0, 0, 0.01, 0.04),
    ("E66.01", "G47.33", "Z68.41"): (0, 0.01, 0.03, 0.01),
    ("G30.9", "F03.90"): (0, 0, 0, 0.03),
    ("W19.XXXA", "S72.001A", "M81.0"): (0, 0, 0.002, 0.03),
    ("S52.502A", "W19.XXXA"): (0.03, 0.01, 0.005, 0.01),
    ("J21.0", "J96.01"): (0.03, 0, 0, 0),
    ("P59.9", "Z38.00"): (0.06, 0, 0, 0),
    ("O80", "Z37.0", "Z3A.39"): (0, 0.16, 0.01, 0),
    ("F10.20", "K70.30", "K76.6"): (0, 0.003, 0.012, 0.003),
    ("F11.20", "B18.2"): (0, 0.012, 0.01, 0.001),
    ("B20", "A53.9"): (0, 0.003, 0.003, 0),
    ("F33.1", "F41.1", "R45.851"): (0.004, 0.02, 0.012, 0.003),
    ("U07.1", "J12.82", "J96.01"): (0.002, 0.004, 0.012, 0.02),
}
"""Diagnoses that occur together, with the share of people of each stage who have them."""


@dataclass(frozen=True)
class Diagnosis:
    """A diagnosis of the hospital."""

    code: str
    name: str
    category: str
    chapter: str
    sensitive: bool
    weights: tuple[float, ...]
    """The weight in each stage of life: that of the category divided by the place in it."""
    limit: str
    """`women`, `men` or an empty text."""
    season: str
    """`winter`, `summer` or an empty text."""


def diagnoses() -> list[Diagnosis]:
    """Return all diagnoses, chapter by chapter and category by category."""
    found = []
    for chapter, categories in _CHAPTERS.items():
        for category, text in categories.items():
            top, *lines = text.split("\n")
            words = top.split()
            weights = [float(word) for word in words[: len(STAGES)]]
            limit = next((word for word in words if word in ("women", "men")), "")
            season = next((word for word in words if word in ("winter", "summer")), "")
            for place, line in enumerate(lines, start=1):
                code, name = line.strip().split(" ", 1)
                of_code = tuple(weight / place for weight in weights)
                bare = code.removeprefix("!")
                found.append(Diagnosis(bare, name, category, chapter, bare != code, of_code, limit, season))
    return found
